import AfarTesting
import Foundation
import HTTPTypes

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// What adapters have left in the header `X-Trail`.
    var trail: String? { value(forHTTPHeaderField: "X-Trail") }

    func trailed(by letter: String) -> URLRequest {
        var request = self
        request.setValue((trail ?? "") + letter, forHTTPHeaderField: "X-Trail")
        return request
    }
}

extension MockTransport {
    /// The trails of all requests that were sent.
    var trails: [String?] { requests.map { request in HTTPField.Name("X-Trail").flatMap { request.fields[$0] } } }
}
