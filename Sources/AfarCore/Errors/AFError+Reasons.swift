public import Foundation

extension AFError {
    /// Why a multipart form could not be encoded.
    public enum MultipartEncodingFailureReason: Sendable {
        /// The boundary given is none that a form may have (RFC 2046, section 5.1.1).
        case boundaryInvalid(String)
        /// A part's headers cannot be written as they are; the error names the header.
        case bodyPartHeadersInvalid(error: any Error)
        /// The URL of a part is not a file URL.
        case bodyPartURLInvalid(url: URL)
        /// The URL of a part has no file name that the part could bear.
        case bodyPartFilenameInvalid(in: URL)
        /// The file of a part cannot be reached. Where the cause is known, as for ``MultipartFormData``, the next
        /// reason carries it.
        case bodyPartFileNotReachable(at: URL)
        /// The file of a part cannot be reached; the error is a `CocoaError` with a `POSIXError` underneath.
        case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
        /// The file of a part is a directory.
        case bodyPartFileIsDirectory(at: URL)
        /// The file system does not tell how long the file of a part is.
        case bodyPartFileSizeNotAvailable(at: URL)
        /// Asking for the length of a part's file failed.
        case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
        /// The file of a part could not be opened.
        case bodyPartInputStreamCreationFailed(for: URL)
        /// The file for the encoded form could not be opened for writing.
        case outputStreamCreationFailed(for: URL)
        /// There is a file already where the encoded form was to be written.
        case outputStreamFileAlreadyExists(at: URL)
        /// The URL for the encoded form is not a file URL.
        case outputStreamURLInvalid(url: URL)
        /// Writing the encoded form failed.
        case outputStreamWriteFailed(error: any Error)
        /// Reading a part failed.
        case inputStreamReadFailed(error: any Error)
    }

    /// A part's stream held another number of bytes than was announced.
    public struct UnexpectedInputStreamLength: Error, Sendable {
        /// The number of bytes announced.
        public var bytesExpected: UInt64
        /// The number of bytes that the stream gave.
        public var bytesRead: UInt64

        /// Makes the error.
        public init(bytesExpected: UInt64, bytesRead: UInt64) {
            self.bytesExpected = bytesExpected
            self.bytesRead = bytesRead
        }
    }

    /// Why a `ParameterEncoding` failed.
    public enum ParameterEncodingFailureReason: Sendable {
        /// The request has no URL to put a query into.
        case missingURL
        /// The parameters cannot be written as JSON.
        case jsonEncodingFailed(error: any Error)
        /// The parameters cannot be written as a property list.
        case propertyListEncodingFailed(error: any Error)
        /// An encoding failed with an error of its own.
        case customEncodingFailed(error: any Error)
    }

    /// Why a `ParameterEncoder` failed.
    public enum ParameterEncoderFailureReason: Sendable {
        /// A part that a request must have before parameters can be put into it.
        public enum RequiredComponent: Sendable {
            /// The URL.
            case url
            /// The method; the value is what the request has in its place.
            case httpMethod(rawValue: String)
        }

        /// The request lacks something that the encoder needs.
        case missingRequiredComponent(RequiredComponent)
        /// The encoder underneath failed.
        case encoderFailed(error: any Error)
    }

    /// Why a request must not be sent.
    public enum URLRequestValidationFailureReason: Sendable {
        /// It is a GET and has a body.
        case bodyDataInGETRequest(Data)
        /// Its method is not a token, the only thing that a method may be.
        case invalidMethod(String)
        /// A header's name is not a token, the only thing that a name may be.
        case invalidHeaderName(String)
        /// A header's value has control characters, as of a line break. The value itself is left out: it may be secret.
        case invalidHeaderValue(name: String)
        /// Its URL has a scheme other than `http` and `https`.
        case unsupportedScheme(String)
        /// Its URL breaks the rules of URLs, by a port beyond 65,535 for example.
        case malformedURL(URL, reason: String)
        /// Its URL can be read in two ways that name different servers.
        case ambiguousURL(URL, reason: String)
        /// It has a `Content-Length` that contradicts its body or another header.
        case conflictingContentLength
        /// It has more headers than a request may have.
        case tooManyHeaders(count: Int, limit: Int)
    }
}

extension AFError {
    /// Why a validator refused a response.
    public enum ResponseValidationFailureReason: Sendable {
        /// There is no file with the downloaded data.
        case dataFileNil
        /// The file with the downloaded data cannot be read.
        case dataFileReadFailed(at: URL)
        /// The response names no content type, and not every type is acceptable.
        case missingContentType(acceptableContentTypes: [String])
        /// The response has a content type that is not acceptable.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The response has a status code that is not acceptable.
        case unacceptableStatusCode(code: Int)
        /// A validator of the caller's failed with an error of its own.
        case customValidationFailed(error: any Error)
    }

    /// Why a response could not be turned into a value.
    public enum ResponseSerializationFailureReason: Sendable {
        /// The body is empty where it must not be.
        case inputDataNilOrZeroLength
        /// There is no file with the downloaded data.
        case inputFileNil
        /// The file with the downloaded data cannot be read.
        case inputFileReadFailed(at: URL)
        /// The body is no text in this encoding.
        case stringSerializationFailed(encoding: String.Encoding)
        /// The body could not be made text; the error tells why, and the encoding is Foundation's name for the one tried,
        /// where there is one.
        case textDecodingFailed(encoding: String.Encoding?, error: any Error)
        /// The body is not JSON.
        case jsonSerializationFailed(error: any Error)
        /// The body is not a property list.
        case propertyListSerializationFailed(error: any Error)
        /// The body does not have the shape of the type asked for.
        case decodingFailed(error: any Error)
        /// A serializer failed with an error of its own.
        case customSerializationFailed(error: any Error)
        /// The body is empty, as it may be, but the type asked for has no value for that.
        case invalidEmptyResponse(type: String)
    }

    /// Why a server's identity was not accepted.
    public enum ServerTrustFailureReason: Sendable {
        /// What an evaluator looked at and what it found.
        public struct Output: Sendable {
            /// The host whose identity was in question.
            public let host: String
            /// What the server presented.
            public let trust: ServerTrust
            /// What was found to be wrong.
            public let error: ServerTrustError

            /// Makes an output.
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
        /// A policy could not be applied.
        case policyApplicationFailed(host: String, message: String)
        /// The certificates to trust could not be set.
        case settingAnchorCertificatesFailed(host: String, message: String, certificates: [Certificate])
        /// The policy that looks for revoked certificates could not be made.
        case revocationPolicyCreationFailed
        /// The evaluation failed, with an error where there is one.
        case trustEvaluationFailed(error: (any Error)?)
        /// The ordinary validation of the chain failed.
        case defaultEvaluationFailed(output: Output)
        /// The certificate is for another host.
        case hostValidationFailed(output: Output)
        /// The certificate is revoked, or it could not be found out whether it is.
        case revocationCheckFailed(output: Output, options: RevocationTrustEvaluator.Options)
        /// None of the server's certificates is among the pinned ones.
        case certificatePinningFailed(
            host: String, trust: ServerTrust, pinnedCertificates: [Certificate], serverCertificates: [Certificate])
        /// None of the server's keys is among the pinned ones.
        case publicKeyPinningFailed(
            host: String, trust: ServerTrust, pinnedKeys: [PublicKey], serverKeys: [PublicKey])
        /// An evaluator of the caller's failed with an error of its own.
        case customEvaluationFailed(error: any Error)
    }
}
