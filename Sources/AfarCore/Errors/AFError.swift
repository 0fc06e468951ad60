public import Foundation

/// Whatever can go wrong between the making of a request and the value handed to its handlers.
///
/// Each case says in which phase the request failed; where a phase can fail for several causes, a nested reason tells
/// which. `localizedDescription` is one line for a person: what was wrong, where, and what to do about it. Credentials
/// in a URL never appear in it.
public indirect enum AFError: Error, Sendable {
    /// The value given for an upload could not be turned into something to upload.
    case createUploadableFailed(error: any Error)
    /// The value given for a request could not be turned into a `URLRequest`.
    case createURLRequestFailed(error: any Error)
    /// A download was complete, but its file could not be moved to the destination.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// The request was cancelled by a call to `cancel`.
    case explicitlyCancelled
    /// The value is not a URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart form could not be encoded.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// A `ParameterEncoding` could not put its parameters into the request.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A `ParameterEncoder` could not put its parameters into the request.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A request adapter refused the request.
    case requestAdaptationFailed(error: any Error)
    /// A retrier failed itself while it was deciding about a failed request.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// The response arrived and a validator refused it.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The response arrived and could not be turned into the value asked for.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// The server's identity was not accepted.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session went out of memory while the request was under way.
    case sessionDeinitialized
    /// The session was invalidated, with an error or on purpose.
    case sessionInvalidated(error: (any Error)?)
    /// The exchange with the server failed.
    case sessionTaskFailed(error: any Error)
    /// The request is one that must not be sent.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}

extension Error {
    /// This error where it is an `AFError`, else nil.
    public var asAFError: AFError? {
        self as? AFError
    }

    /// This error as an `AFError`. It never fails: any other error comes back inside `AFError.sessionTaskFailed`.
    ///
    /// - Parameters:
    ///   - message: Not used; here so that calls written for a version that traps still compile.
    ///   - file: Not used.
    ///   - line: Not used.
    public func asAFError(
        orFailWith message: @autoclosure () -> String,
        file: StaticString = #file,
        line: UInt = #line
    ) -> AFError {
        asAFError(or: .sessionTaskFailed(error: self))
    }

    /// This error where it is an `AFError`, else the one given.
    package func asAFError(or defaultAFError: @autoclosure () -> AFError) -> AFError {
        self as? AFError ?? defaultAFError()
    }
}

extension AFError {
    /// What the transport said, where it was the transport that failed.
    package var transportError: TransportError? {
        guard case .sessionTaskFailed(let error) = self else { return nil }
        return error as? TransportError ?? (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
    }
}
