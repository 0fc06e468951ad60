import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
