#if canImport(FoundationNetworking)
    import FoundationNetworking
#else
    import Foundation
#endif

/// Makes a `URLRequest`, maybe of a URL that was given as text. A `URL` cannot hold all that a request can be sent with.
package protocol WrittenURLConvertible: URLRequestConvertible {
    /// The text; nil when the URL was not given as text.
    var writtenURL: String? { get }
}

extension Request {
    /// The text of the URL that a request is sent to; nil when that is not known, or when an adapter has changed the request: it
    /// may have signed the `URL`, which is all that it has seen.
    func writtenURL(of urlRequest: URLRequest) -> String? {
        guard let made = firstRequest, urlRequest == made, urlRequest.allHTTPHeaderFields == made.allHTTPHeaderFields
        else { return nil }
        return convertible.writtenURL
    }
}

extension URLRequestConvertible {
    /// The text of which the URL was made; nil when that is not known.
    package var writtenURL: String? { (self as? any WrittenURLConvertible)?.writtenURL }
}
