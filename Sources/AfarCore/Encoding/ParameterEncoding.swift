#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Parameters of a request by name.
public typealias Parameters = [String: any Any & Sendable]

/// A way to put a dictionary of parameters into a request.
public protocol ParameterEncoding: Sendable {
    /// The request with the parameters in it.
    ///
    /// - Parameters:
    ///   - urlRequest: The request to put them into.
    ///   - parameters: What to put in; with nil the request stays as it is.
    /// - Returns: The new request.
    /// - Throws: What went wrong, as an `AFError.parameterEncodingFailed` for the encodings here.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// A way to put an `Encodable` value into a request.
public protocol ParameterEncoder: Sendable {
    /// The request with the parameters in it.
    ///
    /// - Parameters:
    ///   - parameters: What to put in; with nil the request stays as it is.
    ///   - request: The request to put them into.
    /// - Returns: The new request.
    /// - Throws: What went wrong, as an `AFError.parameterEncoderFailed` for the encoders here.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest
}

extension URLRequest {
    /// Sets the body, and the content type unless there is one.
    mutating func setBody(_ body: Data, contentType: String) {
        if value(forHTTPHeaderField: "Content-Type") == nil {
            setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        httpBody = body
    }
}

extension URL {
    /// This URL with more at the end of its query. What is there already stays as it is.
    ///
    /// The text is put together by hand: `URLComponents` traps on a query that is not percent-encoded as it expects.
    ///
    /// - Parameter query: The pairs to add, percent-encoded. What cannot stand in a URL for all that is escaped now.
    /// - Throws: `AFError.invalidURL` if the result is no URL.
    func appendingQuery(_ query: String) throws -> URL {
        guard !query.isEmpty else { return self }
        let text = absoluteString
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let head = text[..<fragment]
        let separator =
            if !head.contains("?") { "?" } else if head.hasSuffix("?") || head.hasSuffix("&") { "" } else { "&" }
        let escaped = query.addingPercentEncoding(withAllowedCharacters: Self.escapedQueryCharacters) ?? query
        let result = String(head + separator + escaped + text[fragment...])
        // Strict: where Foundation finds something to encode, it encodes every percent sign a second time.
        guard let url = URL(string: result, encodingInvalidCharacters: false) else {
            throw AFError.invalidURL(url: result)
        }
        return url
    }

    private static let escapedQueryCharacters = CharacterSet.urlQueryAllowed.union(CharacterSet(charactersIn: "%"))
}

extension HTTPMethod {
    /// Whether parameters of a request with this method go into its URL rather than into a body.
    var prefersParametersInURL: Bool {
        self == .get || self == .head || self == .delete
    }
}
