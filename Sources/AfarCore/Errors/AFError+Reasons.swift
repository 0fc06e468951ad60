public import Foundation

extension AFError {
    /// The reason a multipart form couldn't be encoded.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The boundary is invalid (RFC 2046, section 5.1.1).
        case boundaryInvalid(String)
        /// A part has an invalid header; the error names it.
        case bodyPartHeadersInvalid(error: any Error)
        /// The URL of a part is not a file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL of a part has no file name that the part could use.
        case bodyPartFilenameInvalid(in: URL)
        /// A part's file can't be reached. If the cause is known, as for ``MultipartFormData``, the next reason is used instead.
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
        /// Writing the encoded form failed.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
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
        /// The parameters can't be written as a property list.
        case propertyListEncodingFailed(error: any Error)
        /// An encoding failed with its own error.
        case customEncodingFailed(error: any Error)
    }

    /// The reason a `ParameterEncoder` failed.
    public enum ParameterEncoderFailureReason: Sendable {
        /// A component that a request must have before parameters can be added.
        public enum RequiredComponent: Sendable {
            /// The URL.
            case url
            /// The method; the value is the request's invalid method.
            case httpMethod(rawValue: String)
        }

        /// The request lacks a component that the encoder requires.
        case missingRequiredComponent(RequiredComponent)
        /// The underlying encoder failed.
        case encoderFailed(error: any Error)
    }

    /// The reason a request wasn't sent.
    public enum URLRequestValidationFailureReason: Sendable {
        /// The request is a GET with a body.
        case bodyDataInGETRequest(Data)
        /// The method isn't a token, as HTTP requires.
        case invalidMethod(String)
        /// The name of a header isn't a token, as HTTP requires.
        case invalidHeaderName(String)
        /// The value of a header contains control characters, such as line breaks. The value is omitted because it may be secret.
        case invalidHeaderValue(name: String)
        /// The URL has a scheme other than `http` and `https`.
        case unsupportedScheme(String)
        /// The URL is invalid, for example because its port is above 65,535.
        case malformedURL(URL, reason: String)
        /// The URL is ambiguous: it can be interpreted as naming different servers.
        case ambiguousURL(URL, reason: String)
        /// The `Content-Length` contradicts the body or another header.
        case conflictingContentLength
        /// The request has too many headers.
        case tooManyHeaders(count: Int, limit: Int)
    }
}

extension AFError {
    /// The reason a validator rejected a response.
    public enum ResponseValidationFailureReason: Sendable {
        /// There is no file with the downloaded data.
        case dataFileNil
        /// The file with the downloaded data can't be read.
        case dataFileReadFailed(at: URL)
        /// The response has no content type, and not every type is acceptable.
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
        /// The body couldn't be decoded as text. The error contains the reason; the encoding is Foundation's name for the
        /// attempted encoding, if it has one.
        case textDecodingFailed(encoding: String.Encoding?, error: any Error)
        /// The body is not JSON.
        case jsonSerializationFailed(error: any Error)
        /// The body is not a property list.
        case propertyListSerializationFailed(error: any Error)
        /// The body doesn't have the structure of the requested type.
        case decodingFailed(error: any Error)
        /// A serializer failed with its own error.
        case customSerializationFailed(error: any Error)
        /// The body is empty, which is allowed, but the requested type has no empty value.
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

        /// Every host must have an evaluator, and this one has none.
        case noRequiredEvaluator(host: String)
        /// There are no certificates to compare with.
        case noCertificatesFound
        /// There are no public keys to compare with.
        case noPublicKeysFound
        /// A policy couldn't be applied.
        case policyApplicationFailed(host: String, message: String)
        /// The trusted certificates couldn't be set.
        case settingAnchorCertificatesFailed(host: String, message: String, certificates: [Certificate])
        /// The policy that checks for revoked certificates couldn't be created.
        case revocationPolicyCreationFailed
        /// The evaluation failed, with an error if one is known.
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
