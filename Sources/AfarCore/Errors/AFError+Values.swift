public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension AFError {
    /// The value that isn't a URL.
    public var urlConvertible: (any URLConvertible)? {
        if case .invalidURL(let url) = self { url } else { nil }
    }

    /// The URL that caused the error: the URL of a multipart form's part, or a URL that isn't allowed.
    public var url: URL? {
        switch self {
        case .multipartEncodingFailed(let reason): reason.url
        case .createURLRequestFailed(InvalidRequest.ambiguousURL(let url, _)),
            .createURLRequestFailed(InvalidRequest.malformedURL(let url, _)):
            url
        default: nil
        }
    }

    /// The reason the request can't be sent, if it is invalid.
    public var invalidRequest: InvalidRequest? {
        if case .createURLRequestFailed(let error as InvalidRequest) = self { error } else { nil }
    }

    /// The error that caused this error.
    public var underlyingError: (any Error)? {
        switch self {
        case .responseValidationFailed(.customValidationFailed(let error as RejectedResponse)): error.underlyingError
        case .createUploadableFailed(let error), .createURLRequestFailed(let error),
            .downloadedFileMoveFailed(let error, _, _),
            .multipartEncodingFailed(.bodyPartFileNotReachableWithError(_, let error)),
            .multipartEncodingFailed(.bodyPartFileSizeQueryFailedWithError(_, let error)),
            .multipartEncodingFailed(.inputStreamReadFailed(let error)),
            .multipartEncodingFailed(.outputStreamWriteFailed(let error)),
            .parameterEncoderFailed(.encoderFailed(let error)),
            .parameterEncodingFailed(.customEncodingFailed(let error)),
            .parameterEncodingFailed(.jsonEncodingFailed(let error)),
            .requestAdaptationFailed(let error), .requestRetryFailed(let error, _),
            .responseSerializationFailed(.customSerializationFailed(let error)),
            .responseSerializationFailed(.decodingFailed(let error)),
            .responseSerializationFailed(.jsonSerializationFailed(let error)),
            .responseValidationFailed(.customValidationFailed(let error)),
            .serverTrustEvaluationFailed(.customEvaluationFailed(let error)), .sessionTaskFailed(let error):
            error
        case .sessionInvalidated(let error), .serverTrustEvaluationFailed(.trustEvaluationFailed(let error)): error
        case .serverTrustEvaluationFailed(.defaultEvaluationFailed(let output)),
            .serverTrustEvaluationFailed(.hostValidationFailed(let output)),
            .serverTrustEvaluationFailed(.revocationCheckFailed(let output, _)):
            output.error
        default: nil
        }
    }

    /// The content types that validation accepts.
    public var acceptableContentTypes: [String]? {
        switch self {
        case .responseValidationFailed(.missingContentType(let types)),
            .responseValidationFailed(.unacceptableContentType(let types, _)):
            types
        default: nil
        }
    }

    /// The content type that validation rejected.
    public var responseContentType: String? {
        if case .responseValidationFailed(.unacceptableContentType(_, let type)) = self { type } else { nil }
    }

    /// The status code that validation rejected.
    public var responseCode: Int? {
        switch self {
        case .responseValidationFailed(.unacceptableStatusCode(let code)): code
        case .responseValidationFailed(.customValidationFailed(let error as RejectedResponse)): error.responseCode
        default: nil
        }
    }

    /// The text encoding with which the body couldn't be decoded.
    public var failedStringEncoding: String.Encoding? {
        switch self {
        case .responseSerializationFailed(.stringSerializationFailed(let encoding)): encoding
        case .responseSerializationFailed(.customSerializationFailed(let error as any BodyFormatError)):
            error.stringEncoding
        default: nil
        }
    }

    /// The location of the downloaded file that couldn't be moved.
    public var sourceURL: URL? {
        if case .downloadedFileMoveFailed(_, let source, _) = self { source } else { nil }
    }

    /// The destination that the downloaded file couldn't be moved to.
    public var destinationURL: URL? {
        if case .downloadedFileMoveFailed(_, _, let destination) = self { destination } else { nil }
    }

    /// The data to resume an interrupted download, if the underlying error contains it.
    public var downloadResumeData: Data? {
        (underlyingError as? URLError)?.userInfo[Self.resumeDataKey] as? Data
    }

    /// The value of `NSURLSessionDownloadTaskResumeData`, a constant that only Apple's Foundation declares.
    package static let resumeDataKey = "NSURLSessionDownloadTaskResumeData"
}

/// An error of a serializer. Its description explains what is wrong with the body.
package protocol BodyFormatError: Error {
    /// The beginning of a sentence that continues with the description, such as "Its body is not a property list".
    static var problem: String { get }
    /// The text encoding in which the body is invalid. Nil for other problems, and for an encoding that Foundation has no name
    /// for.
    var stringEncoding: String.Encoding? { get }
}

extension AFError.MultipartEncodingFailureReason {
    var url: URL? {
        switch self {
        case .bodyPartURLInvalid(let url), .bodyPartFilenameInvalid(let url), .bodyPartFileNotReachable(let url),
            .bodyPartFileNotReachableWithError(let url, _), .bodyPartFileIsDirectory(let url),
            .bodyPartFileSizeNotAvailable(let url), .bodyPartFileSizeQueryFailedWithError(let url, _),
            .bodyPartInputStreamCreationFailed(let url), .outputStreamCreationFailed(let url),
            .outputStreamFileAlreadyExists(let url), .outputStreamURLInvalid(let url):
            url
        case .outputStreamWriteFailed, .inputStreamReadFailed: nil
        }
    }
}

extension AFError {
    /// Whether this is `sessionDeinitialized`.
    public var isSessionDeinitializedError: Bool {
        if case .sessionDeinitialized = self { true } else { false }
    }

    /// Whether this is `sessionInvalidated`.
    public var isSessionInvalidatedError: Bool {
        if case .sessionInvalidated = self { true } else { false }
    }

    /// Whether this is `explicitlyCancelled`.
    public var isExplicitlyCancelledError: Bool {
        if case .explicitlyCancelled = self { true } else { false }
    }

    /// Whether this is `invalidURL`.
    public var isInvalidURLError: Bool {
        if case .invalidURL = self { true } else { false }
    }

    /// Whether this is `parameterEncodingFailed`.
    public var isParameterEncodingError: Bool {
        if case .parameterEncodingFailed = self { true } else { false }
    }

    /// Whether this is `parameterEncoderFailed`.
    public var isParameterEncoderError: Bool {
        if case .parameterEncoderFailed = self { true } else { false }
    }

    /// Whether this is `multipartEncodingFailed`.
    public var isMultipartEncodingError: Bool {
        if case .multipartEncodingFailed = self { true } else { false }
    }

    /// Whether this is `requestAdaptationFailed`.
    public var isRequestAdaptationError: Bool {
        if case .requestAdaptationFailed = self { true } else { false }
    }

    /// Whether this is `responseValidationFailed`.
    public var isResponseValidationError: Bool {
        if case .responseValidationFailed = self { true } else { false }
    }

    /// Whether this is `responseSerializationFailed`.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { true } else { false }
    }

    /// Whether this is `serverTrustEvaluationFailed`.
    public var isServerTrustEvaluationError: Bool {
        if case .serverTrustEvaluationFailed = self { true } else { false }
    }

    /// Whether this is `requestRetryFailed`.
    public var isRequestRetryError: Bool {
        if case .requestRetryFailed = self { true } else { false }
    }

    /// Whether this is `createUploadableFailed`.
    public var isCreateUploadableError: Bool {
        if case .createUploadableFailed = self { true } else { false }
    }

    /// Whether this is `createURLRequestFailed`.
    public var isCreateURLRequestError: Bool {
        if case .createURLRequestFailed = self { true } else { false }
    }

    /// Whether this is `downloadedFileMoveFailed`.
    public var isDownloadedFileMoveError: Bool {
        if case .downloadedFileMoveFailed = self { true } else { false }
    }

    /// Whether this is `sessionTaskFailed`.
    public var isSessionTaskError: Bool {
        if case .sessionTaskFailed = self { true } else { false }
    }

    /// Whether this is `urlRequestValidationFailed`.
    public var isURLRequestValidationError: Bool {
        if case .urlRequestValidationFailed = self { true } else { false }
    }
}
