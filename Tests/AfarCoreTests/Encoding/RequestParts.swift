import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What encoding parameters can change of a request. Foundation's own comparison looks at neither headers nor body.
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
