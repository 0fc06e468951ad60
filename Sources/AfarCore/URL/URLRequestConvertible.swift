#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
