#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The method of a request.
///
/// You can create any method, such as `HTTPMethod(rawValue: "PURGE")`. Methods are case-sensitive.
public struct HTTPMethod: RawRepresentable, Equatable, Hashable, Sendable {
    /// `CONNECT`
    public static let connect = HTTPMethod(rawValue: "CONNECT")
    /// `DELETE`
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// `GET`
    public static let get = HTTPMethod(rawValue: "GET")
    /// `HEAD`
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// `OPTIONS`
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// `PATCH`
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// `POST`
    public static let post = HTTPMethod(rawValue: "POST")
    /// `PUT`
    public static let put = HTTPMethod(rawValue: "PUT")
    /// `QUERY`
    public static let query = HTTPMethod(rawValue: "QUERY")
    /// `TRACE`
    public static let trace = HTTPMethod(rawValue: "TRACE")

    /// The method as sent in the request line.
    public let rawValue: String

    /// Creates a method from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

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
    /// - Throws: The URL's conversion error, such as `AFError.invalidURL`; `AFError.createURLRequestFailed` for a method or a
    ///   header that can't be sent.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        try method.validate()
        try headers?.validate()
        self.init(url: try url.asURL())
        // GET is the default. Setting a method is slow, because Foundation compares it with all known methods.
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
