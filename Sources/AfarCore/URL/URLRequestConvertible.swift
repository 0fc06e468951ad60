public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What a URL can be made of.
public protocol URLConvertible: Sendable {
    /// The URL.
    ///
    /// - Throws: An error that says why there is none; for the types here, `AFError.invalidURL`.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// The URL that this text is. Characters that no `URL` holds are percent-encoded; the escapes in the text stay as they
    /// are.
    ///
    /// - Throws: `AFError.invalidURL` if it is none.
    public func asURL() throws -> URL {
        guard let url = URL(keepingEscapesOf: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    /// This URL itself.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// The URL that these components form.
    ///
    /// - Throws: `AFError.invalidURL` if they form none.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}

/// What a `URLRequest` can be made of.
public protocol URLRequestConvertible: Sendable {
    /// The request.
    ///
    /// - Throws: An error that says why there is none.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The request, or nil where it cannot be made.
    public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    /// This request itself.
    public func asURLRequest() throws -> URLRequest { self }
}

/// Makes a `URLRequest`, maybe of a URL that was given as text. A `URL` cannot hold all that a request can be sent with.
package protocol WrittenURLConvertible: URLRequestConvertible {
    /// The text; nil when the URL was not given as text.
    var writtenURL: String? { get }
}

extension URLRequestConvertible {
    /// The text of which the URL was made; nil when that is not known.
    package var writtenURL: String? { (self as? any WrittenURLConvertible)?.writtenURL }
}
