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
