#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Parameters as a query: `key=value` pairs in the URL or in a form body.
///
/// Keys are sorted, at every level, so that the same parameters always give the same text. The query that the URL has
/// already is left as it is, and what is added is percent-encoded exactly once.
///
/// There is no standard for collections in a query. Dictionaries become `key[subkey]=value`, arrays `key[]=value` for
/// each element or as `arrayEncoding` says, booleans numbers or as `boolEncoding` says. What is nil or `NSNull` is left
/// out.
public struct URLEncoding: ParameterEncoding {
    /// Where the parameters go.
    public enum Destination: Sendable {
        /// Into the URL for GET, HEAD and DELETE, else into the body.
        case methodDependent
        /// Into the URL.
        case queryString
        /// Into the body.
        case httpBody

        func encodesParametersInURL(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method.prefersParametersInURL
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// The encoding with the destination `methodDependent`.
    public static var `default`: URLEncoding { URLEncoding() }

    /// The encoding with the destination `queryString`.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }

    /// The encoding with the destination `httpBody`.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    /// Where the parameters go.
    public let destination: Destination

    /// How arrays are written.
    public let arrayEncoding: ArrayEncoding

    /// How booleans are written.
    public let boolEncoding: BoolEncoding

    /// Makes an encoding.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// The request with the parameters in its query or body. A content type is set with a body unless there is one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` if there is no URL for a query or a parameter is nested too deep; what
    ///   the convertible throws.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        let goesIntoURL = request.method.map(destination.encodesParametersInURL) ?? false
        if goesIntoURL, request.url == nil { throw AFError.parameterEncodingFailed(reason: .missingURL) }
        do {
            try AFError.ParameterNestingError.check(parameters)
            if goesIntoURL {
                request.url = try request.url?.appendingQuery(query(parameters))
            } else {
                request.setBody(
                    Data(query(parameters).utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
            }
        } catch {
            throw AFError.parameterEncodingFailed(reason: .customEncodingFailed(error: error))
        }
        return request
    }

    private func query(_ parameters: Parameters) -> String {
        parameters.sorted { $0.key < $1.key }
            .flatMap { components(fromKey: $0.key, value: $0.value) }
            .map { "\($0)=\($1)" }
            .joined(separator: "&")
    }
}
