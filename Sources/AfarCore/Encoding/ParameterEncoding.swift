#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The parameters of a request, by name.
public typealias Parameters = [String: any Any & Sendable]

/// A type that adds a dictionary of parameters to a request.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with the parameters added.
    ///
    /// - Parameters:
    ///   - urlRequest: The request to add them to.
    ///   - parameters: The parameters. If nil, the request is unchanged.
    /// - Returns: The new request.
    /// - Throws: Any error. The encodings of this library throw `AFError.parameterEncodingFailed`.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// A type that adds an `Encodable` value to a request.
public protocol ParameterEncoder: Sendable {
    /// Returns the request with the parameters added.
    ///
    /// - Parameters:
    ///   - parameters: The parameters. If nil, the request is unchanged.
    ///   - request: The request to add them to.
    /// - Returns: The new request.
    /// - Throws: Any error. The encoders of this library throw `AFError.parameterEncoderFailed`, except ``JSONParameterEncoder``,
    ///   which throws `AFError.parameterEncodingFailed`.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest
}

extension URLRequest {
    /// Sets the body, and the content type unless the request has one.
    mutating func setBody(_ body: Data, contentType: String) {
        if value(forHTTPHeaderField: "Content-Type") == nil {
            setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        httpBody = body
    }
}

extension URL {
    /// Returns this URL with pairs appended to its query. The existing query is unchanged.
    ///
    /// The text is concatenated, because `URLComponents` traps on a query with unexpected percent-encoding.
    ///
    /// - Parameter query: The percent-encoded pairs to append. Remaining characters that aren't allowed in a URL are escaped.
    /// - Throws: `AFError.invalidURL` if the result isn't a valid URL.
    func appendingQuery(_ query: String) throws -> URL {
        guard !query.isEmpty else { return self }
        let text = absoluteString
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let head = text[..<fragment]
        let separator =
            if !head.contains("?") { "?" } else if head.hasSuffix("?") || head.hasSuffix("&") { "" } else { "&" }
        let escaped = query.addingPercentEncoding(withAllowedCharacters: Self.escapedQueryCharacters) ?? query
        let result = String(head + separator + escaped + text[fragment...])
        // Strict: if Foundation finds an invalid character, it encodes every percent sign a second time.
        guard let url = URL(string: result, encodingInvalidCharacters: false) else {
            throw AFError.invalidURL(url: result)
        }
        return url
    }

    private static let escapedQueryCharacters = CharacterSet.urlQueryAllowed.union(CharacterSet(charactersIn: "%"))
}

extension HTTPMethod {
    /// Whether parameters of a request with this method are added to its URL instead of a body.
    var prefersParametersInURL: Bool {
        self == .get || self == .head || self == .delete
    }
}
