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

/// Makes a `URLRequest` from the parts that a caller gave. The modifier sees it before the parameters are encoded.
struct ParameterizedRequest: WrittenURLConvertible {
    typealias Modifier = @Sendable (inout URLRequest) throws -> Void

    /// Whether none of the caller's code makes the `URLRequest`.
    let isPlain: Bool
    let writtenURL: String?
    private let make: @Sendable () throws -> URLRequest

    init(
        url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders?, modifier: Modifier?,
        encode: (@Sendable (URLRequest) throws -> URLRequest)? = nil
    ) {
        let kind = type(of: url) as Any.Type
        // A modifier may sign the `URL`, which is all that it sees.
        writtenURL = modifier == nil ? url as? String : nil
        isPlain = modifier == nil && encode == nil && (kind == String.self || kind == URL.self)
        make = {
            var urlRequest = try URLRequest(url: url, method: method, headers: headers)
            try modifier?(&urlRequest)
            return try encode?(urlRequest) ?? urlRequest
        }
    }

    init(
        url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders?, modifier: Modifier?,
        _ parameters: Parameters?, _ encoding: any ParameterEncoding
    ) {
        guard parameters != nil || type(of: encoding) as Any.Type != URLEncoding.self else {
            self.init(url: url, method: method, headers: headers, modifier: modifier)
            return
        }
        self.init(url: url, method: method, headers: headers, modifier: modifier) {
            try encoding.encode($0, with: parameters)
        }
    }

    init<Value: Encodable & Sendable>(
        url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders?, modifier: Modifier?,
        _ parameters: Value?, _ encoder: any ParameterEncoder
    ) {
        guard let parameters else {
            self.init(url: url, method: method, headers: headers, modifier: modifier)
            return
        }
        self.init(url: url, method: method, headers: headers, modifier: modifier) {
            try encoder.encode(parameters, into: $0)
        }
    }

    func asURLRequest() throws -> URLRequest { try make() }
}
