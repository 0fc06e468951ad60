import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The parts of a request that parameter encoding can change. Foundation's `==` ignores headers and bodies.
struct RequestParts: Equatable {
    let url: String?
    let method: HTTPMethod?
    let headers: [String: String]
    let body: Data?
}

extension URLRequest {
    var parts: RequestParts {
        RequestParts(url: url?.absoluteString, method: method, headers: headers.dictionary, body: httpBody)
    }
}
