public import Foundation

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
