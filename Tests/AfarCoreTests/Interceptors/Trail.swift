import AfarTesting
import Foundation
import HTTPTypes

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// The letters that adapters have appended to the header `X-Trail`.
    var trail: String? { value(forHTTPHeaderField: "X-Trail") }

    func trailed(by letter: String) -> URLRequest {
        var request = self
        request.setValue((trail ?? "") + letter, forHTTPHeaderField: "X-Trail")
        return request
    }
}

extension MockTransport {
    /// The trails of all sent requests.
    var trails: [String?] { requests.map { request in HTTPField.Name("X-Trail").flatMap { request.fields[$0] } } }
}
