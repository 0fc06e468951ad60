#if canImport(FoundationNetworking)
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
