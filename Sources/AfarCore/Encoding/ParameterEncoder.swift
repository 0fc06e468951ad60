#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
