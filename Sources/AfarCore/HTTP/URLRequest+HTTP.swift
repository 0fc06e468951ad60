#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLRequest {
    /// The method.
    public var method: HTTPMethod? {
        get { httpMethod.map(HTTPMethod.init(rawValue:)) }
        set { httpMethod = newValue?.rawValue }
    }

    /// The headers. Setting this property replaces all of them.
    public var headers: HTTPHeaders {
        get { allHTTPHeaderFields.map(HTTPHeaders.init) ?? HTTPHeaders() }
        set { allHTTPHeaderFields = newValue.dictionary }
    }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - method: The method.
    ///   - headers: The headers.
    /// - Throws: The URL's conversion error, such as `AFError.invalidURL`; `AFError.urlRequestValidationFailed` for a method or a
    ///   header that can't be sent.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        try method.validate()
        try headers?.validate()
        self.init(url: try url.asURL())
        // Foundation compares a method with all known methods; GET is already the default.
        if method != .get { httpMethod = method.rawValue }
        if let headers { allHTTPHeaderFields = headers.dictionary }
    }

    /// Throws an error for a GET with a body.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` with `bodyDataInGETRequest`.
    public func validate() throws {
        if let httpBody, method == .get {
            throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(httpBody))
        }
    }
}

extension URLRequest {
    /// The body length in an explicit `Content-Length` header, if there is one.
    package var declaredLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
