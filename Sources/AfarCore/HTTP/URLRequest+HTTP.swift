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

    /// The headers. Setting them replaces them all.
    public var headers: HTTPHeaders {
        get { allHTTPHeaderFields.map(HTTPHeaders.init) ?? HTTPHeaders() }
        set { allHTTPHeaderFields = newValue.dictionary }
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - url: Where it goes.
    ///   - method: Its method.
    ///   - headers: Its headers.
    /// - Throws: What the URL throws, as `AFError.invalidURL`; `AFError.urlRequestValidationFailed` for a method or a
    ///   header that cannot be sent.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        try method.validate()
        try headers?.validate()
        self.init(url: try url.asURL())
        // Foundation compares a method with all that it knows, and has GET already.
        if method != .get { httpMethod = method.rawValue }
        if let headers { allHTTPHeaderFields = headers.dictionary }
    }

    /// Refuses a GET that has a body.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` with `bodyDataInGETRequest`.
    public func validate() throws {
        if let httpBody, method == .get {
            throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(httpBody))
        }
    }
}

extension URLRequest {
    /// The length of the body by the `Content-Length` that somebody set, nil when there is none.
    package var declaredLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
