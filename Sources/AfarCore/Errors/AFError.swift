public import Foundation

/// An error that occurs in any phase, from the creation of a request to the creation of the value for its handlers.
///
/// Each case represents the phase in which the request failed. If a phase can fail for several reasons, the case has a nested
/// reason. `localizedDescription` is a single human-readable line that describes the problem, its location and its solution. The
/// line never contains credentials from a URL.
public indirect enum AFError: Error, Sendable {
    /// The value to upload couldn't be converted to an upload.
    case createUploadableFailed(error: any Error)
    /// The value couldn't be converted to a `URLRequest`, or the request can't be sent. If the request can't be sent, the error
    /// is an ``InvalidRequest``.
    case createURLRequestFailed(error: any Error)
    /// The download completed, but its file couldn't be moved to the destination.
    case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
    /// The request was canceled by a call to `cancel`.
    case explicitlyCancelled
    /// The value isn't a URL.
    case invalidURL(url: any URLConvertible)
    /// A multipart form couldn't be encoded.
    case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
    /// A `ParameterEncoding` couldn't add its parameters to the request.
    case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
    /// A `ParameterEncoder` couldn't add its parameters to the request.
    case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
    /// A request adapter rejected the request.
    case requestAdaptationFailed(error: any Error)
    /// A retrier failed while deciding whether to retry a failed request.
    case requestRetryFailed(retryError: any Error, originalError: any Error)
    /// A validator rejected the response.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The response couldn't be converted to the requested value.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason)
    /// The server isn't trusted.
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    /// The session was deinitialized while the request was in progress.
    case sessionDeinitialized
    /// The session was invalidated, either because of an error or intentionally.
    case sessionInvalidated(error: (any Error)?)
    /// The transport or a stage failed.
    case sessionTaskFailed(error: any Error)
    /// The request wasn't sent, because it has a body that its method doesn't allow.
    case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}

extension Error {
    /// This error as an `AFError`, or nil if it has another type.
    public var asAFError: AFError? {
        self as? AFError
    }

    /// Returns this error as an `AFError`. This method never traps: any other error is wrapped in `AFError.sessionTaskFailed`.
    ///
    /// - Parameters:
    ///   - message: Unused. Code written for Alamofire, where this method traps, can pass it.
    ///   - file: Unused.
    ///   - line: Unused.
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
    /// The transport's error, if the transport failed. It contains the phase, the peer and the measurements.
    public var transportError: TransportError? {
        guard case .sessionTaskFailed(let error) = self else { return nil }
        return error as? TransportError ?? (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
    }
}

extension AFError {
    /// The reason a multipart form couldn't be encoded.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The URL of a part is not a file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL of a part has no file name that the part could use.
        case bodyPartFilenameInvalid(in: URL)
        /// A part's file can't be reached, for an unknown reason. ``MultipartFormData`` uses `bodyPartFileNotReachableWithError`
        /// instead.
        case bodyPartFileNotReachable(at: URL)
        /// A part's file can't be reached. The error is a `CocoaError` with an underlying `POSIXError`.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The file of a part is a directory.
        case bodyPartFileIsDirectory(at: URL)
        /// The file system doesn't report the length of a part's file.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// Querying the length of a part's file failed.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// A part's file couldn't be opened.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file for the encoded form couldn't be opened for writing.
        case outputStreamCreationFailed(for: URL)
        /// A file already exists at the URL for the encoded form.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL for the encoded form is not a file URL.
        case outputStreamURLInvalid(url: URL)
        /// Writing the encoded form failed, or the form is invalid. If the form is invalid, the error is an ``InvalidForm``.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
    }

    /// The reason a multipart form is invalid.
    public enum InvalidForm: Error, Sendable {
        /// The boundary is invalid (RFC 2046, section 5.1.1).
        case boundaryInvalid(String)
        /// A part has an invalid header. The error is an ``InvalidRequest`` that names it.
        case bodyPartHeadersInvalid(error: any Error)
    }

    /// A part's stream had a different number of bytes than specified.
    public struct UnexpectedInputStreamLength: Error, Sendable {
        /// The number of bytes specified.
        public var bytesExpected: UInt64
        /// The number of bytes that the stream had.
        public var bytesRead: UInt64

        /// Creates the error.
        public init(bytesExpected: UInt64, bytesRead: UInt64) {
            self.bytesExpected = bytesExpected
            self.bytesRead = bytesRead
        }
    }

    /// The reason a `ParameterEncoding` failed.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL to add a query to.
        case missingURL
        /// The parameters can't be written as JSON.
        case jsonEncodingFailed(error: any Error)
        /// An encoding failed with its own error, or the parameters can't be written as a property list.
        case customEncodingFailed(error: any Error)
    }

    /// The reason a `ParameterEncoder` failed.
    public enum ParameterEncoderFailureReason: Sendable {
        /// A component that a request must have before parameters can be added.
        public enum RequiredComponent: Sendable {
            /// The URL.
            case url
            /// The method. The associated value is the request's invalid method.
            case httpMethod(rawValue: String)
        }

        /// The request lacks a component that the encoder requires.
        case missingRequiredComponent(RequiredComponent)
        /// The underlying encoder failed.
        case encoderFailed(error: any Error)
    }

    /// The reason a request wasn't sent. For other reasons, see ``InvalidRequest``.
    public enum URLRequestValidationFailureReason: Sendable {
        /// The request is a GET with a body.
        case bodyDataInGETRequest(Data)
    }

    /// The reason a request can't be sent as HTTP. It is the error of ``createURLRequestFailed(error:)``.
    public enum InvalidRequest: Error, Sendable {
        /// The method isn't a token, as HTTP requires.
        case invalidMethod(String)
        /// The name of a header isn't a token, as HTTP requires.
        case invalidHeaderName(String)
        /// The value of a header contains control characters, such as line breaks. The error doesn't include the value, because
        /// it might be secret.
        case invalidHeaderValue(name: String)
        /// The URL has a scheme other than `http` and `https`.
        case unsupportedScheme(String)
        /// The URL is invalid, for example because its port is above 65,535.
        case malformedURL(URL, reason: String)
        /// The URL is ambiguous: other programs might interpret it as the URL of a different server.
        case ambiguousURL(URL, reason: String)
        /// The `Content-Length` contradicts the body or another header.
        case conflictingContentLength
        /// The request has too many headers.
        case tooManyHeaders(count: Int, limit: Int)
    }

    package static func invalidRequest(_ reason: InvalidRequest) -> AFError { .createURLRequestFailed(error: reason) }
}

extension AFError {
    /// The reason a validator rejected a response.
    public enum ResponseValidationFailureReason: Sendable {
        /// There is no file with the downloaded data.
        case dataFileNil
        /// The file with the downloaded data can't be read.
        case dataFileReadFailed(at: URL)
        /// The response has no content type, although only some types are acceptable.
        case missingContentType(acceptableContentTypes: [String])
        /// The response has an unacceptable content type.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The response has an unacceptable status code.
        case unacceptableStatusCode(code: Int)
        /// A custom validator failed with its own error.
        case customValidationFailed(error: any Error)
    }

    /// The reason a response couldn't be converted to a value.
    public enum ResponseSerializationFailureReason: Sendable {
        /// The body is empty although an empty body isn't allowed.
        case inputDataNilOrZeroLength
        /// There is no file with the downloaded data.
        case inputFileNil
        /// The file with the downloaded data can't be read.
        case inputFileReadFailed(at: URL)
        /// The body isn't valid text in this encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The body is not JSON.
        case jsonSerializationFailed(error: any Error)
        /// The body doesn't have the structure of the requested type.
        case decodingFailed(error: any Error)
        /// A serializer failed with its own error. Serializers of text throw `TextDecodingError`. Serializers of property lists
        /// throw `PropertyListError`.
        case customSerializationFailed(error: any Error)
        /// An empty body is allowed, but the requested type has no empty value.
        case invalidEmptyResponse(type: String)
    }

    /// The reason a server wasn't trusted.
    public enum ServerTrustFailureReason: Sendable {
        /// The input and the result of an evaluator.
        public struct Output: Sendable {
            /// The host that was evaluated.
            public let host: String
            /// The certificates that the server presented.
            public let trust: ServerTrust
            /// The problem that was found.
            public let error: ServerTrustError

            /// Creates an output.
            public init(host: String, trust: ServerTrust, error: ServerTrustError) {
                self.host = host
                self.trust = trust
                self.error = error
            }
        }

        /// The host has no evaluator, although every host must have an evaluator.
        case noRequiredEvaluator(host: String)
        /// There are no certificates to pin.
        case noCertificatesFound
        /// There are no public keys to pin.
        case noPublicKeysFound
        /// A policy couldn't be applied.
        case policyApplicationFailed(host: String, message: String)
        /// The trusted certificates couldn't be set.
        case settingAnchorCertificatesFailed(host: String, message: String, certificates: [Certificate])
        /// The policy that checks for revoked certificates couldn't be created.
        case revocationPolicyCreationFailed
        /// The evaluation failed. The error is nil if the reason is unknown.
        case trustEvaluationFailed(error: (any Error)?)
        /// The default validation of the certificate chain failed.
        case defaultEvaluationFailed(output: Output)
        /// The certificate is for another host.
        case hostValidationFailed(output: Output)
        /// The certificate is revoked, or its status couldn't be determined.
        case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
        /// None of the server's certificates is pinned.
        case certificatePinningFailed(
            host: String, trust: ServerTrust, pinnedCertificates: [Certificate], serverCertificates: [Certificate])
        /// None of the server's keys is pinned.
        case publicKeyPinningFailed(
            host: String, trust: ServerTrust, pinnedKeys: [PublicKey], serverKeys: [PublicKey])
        /// A custom evaluator failed with its own error.
        case customEvaluationFailed(error: any Error)
    }
}

/// A result whose failure is an ``AFError``.
public typealias AFResult<Success> = Result<Success, AFError>

extension Result where Success == Void {
    /// A success without a value, for validators.
    public static var success: Self { .success(()) }
}

extension Result {
    /// The value of a success, or nil for a failure.
    package var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }

    /// The error of a failure, or nil for a success.
    package var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
