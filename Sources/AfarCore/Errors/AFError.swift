public import Foundation

/// An error in any phase from creating a request to producing the value for its handlers.
///
/// Each case represents the phase in which the request failed. If a phase can fail for several reasons, it has a nested reason.
/// `localizedDescription` is a single human-readable line: what went wrong, where, and how to fix it. It never contains
/// credentials from a URL.
public indirect enum AFError: Error, Sendable {
    /// The value to upload couldn't be converted to an upload.
    case createUploadableFailed(error: any Error)
    /// The value couldn't be converted to a `URLRequest`.
    case createURLRequestFailed(error: any Error)
    /// The download completed, but its file couldn't be moved to the destination.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// The request was cancelled by a call to `cancel`.
    case explicitlyCancelled
    /// The value isn't a URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart form couldn't be encoded.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// A `ParameterEncoding` couldn't add its parameters to the request.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A `ParameterEncoder` couldn't add its parameters to the request.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A request adapter failed the request.
    case requestAdaptationFailed(error: any Error)
    /// A retrier failed while deciding about a failed request.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// A validator rejected the response.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The response couldn't be converted to the requested value.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// The server isn't trusted.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was deinitialized while the request was in progress.
    case sessionDeinitialized
    /// The session was invalidated, with an error or on purpose.
    case sessionInvalidated(error: (any Error)?)
    /// The exchange with the server failed.
    case sessionTaskFailed(error: any Error)
    /// The request is invalid and wasn't sent.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}

extension Error {
    /// This error as an `AFError`; nil if it is another type.
    public var asAFError: AFError? {
        self as? AFError
    }

    /// Returns this error as an `AFError`. It never traps: any other error is wrapped in `AFError.sessionTaskFailed`.
    ///
    /// - Parameters:
    ///   - message: Not used. It exists so that code written for Alamofire, where this method traps, compiles.
    ///   - file: Not used.
    ///   - line: Not used.
    public func asAFError(
        orFailWith message: @autoclosure () -> String,
        file: StaticString = #file,
        line: UInt = #line
    ) -> AFError {
        asAFError(or: .sessionTaskFailed(error: self))
    }

    /// Returns this error if it is an `AFError`, and the given error otherwise.
    package func asAFError(or defaultAFError: @autoclosure () -> AFError) -> AFError {
        self as? AFError ?? defaultAFError()
    }
}

extension AFError {
    /// The transport's error, if the transport failed. It has the phase, the peer and what has been measured.
    public var transportError: TransportError? {
        guard case .sessionTaskFailed(let error) = self else { return nil }
        return error as? TransportError ?? (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
    }
}
