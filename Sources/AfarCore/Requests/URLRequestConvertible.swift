public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A type that can be converted to a URL.
public protocol URLConvertible: Sendable {
    /// Returns the URL.
    ///
    /// - Throws: An error that describes why the conversion failed. The types in this library throw `AFError.invalidURL`.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// Returns the URL in this text. Characters that a `URL` can't contain are percent-encoded, and existing escapes are
    /// preserved.
    ///
    /// - Throws: `AFError.invalidURL` if the text isn't a valid URL.
    public func asURL() throws -> URL {
        guard let url = URL(keepingEscapesOf: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    /// Returns this URL.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// Returns the URL of these components.
    ///
    /// - Throws: `AFError.invalidURL` if the components don't form a valid URL.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}

/// A type that can be converted to a `URLRequest`.
public protocol URLRequestConvertible: Sendable {
    /// Returns the request.
    ///
    /// - Throws: An error that describes why the conversion failed.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The request, or nil if the conversion fails.
    public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    /// Returns this request.
    public func asURLRequest() throws -> URLRequest { self }
}

extension URLRequest {
    /// Resolves a relative URL (RFC 3986, section 5.2).
    mutating func resolve(against base: URL) {
        guard let relative = url, relative.scheme == nil else { return }
        url = URL(keepingEscapesOf: URLReference(asWritten: relative.relativeString).resolved(against: base)) ?? url
    }
}

extension URLReference {
    /// Returns the text of this reference, resolved against a base URL.
    func resolved(against base: URL) -> String {
        (scheme == nil ? resolved(against: URLReference(asWritten: base.absoluteString)) : self).text
    }
}

/// A request that can preserve its URL's original text. Some texts can be sent although a `URL` can't represent them.
package protocol WrittenURLConvertible: URLRequestConvertible {
    /// The original text, or nil if the URL wasn't created from text.
    var writtenURL: String? { get }
}

extension URLRequestConvertible {
    /// The original text of the URL, or nil if it is unknown.
    package var writtenURL: String? { (self as? any WrittenURLConvertible)?.writtenURL }
}
