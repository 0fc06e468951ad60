public import Foundation

extension AFError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
    /// A description of the problem, its location and its solution, in one or two sentences.
    ///
    /// The description is a single line, even if it contains text from a server. Line breaks are replaced by spaces. Other
    /// control characters and invisible characters are escaped, as in `\u001B`. Credentials in URLs are redacted.
    public var errorDescription: String? {
        description
    }

    /// The same text as `errorDescription`, so that printing an error doesn't reveal a password.
    public var description: String {
        Redaction.standard.line(message)
    }

    /// The same text as `description`.
    public var debugDescription: String {
        description
    }

    private var message: String {
        switch self {
        case .createUploadableFailed(let error):
            "The upload could not be created, and nothing was sent: \(error.cause)"
        case .createURLRequestFailed(let error as InvalidRequest):
            "The request is invalid and was not sent: \(error)"
        case .createURLRequestFailed(let error):
            "The URLRequest could not be created, and nothing was sent: \(error.cause)"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "The download is complete, but moving it from \(source.path) to \(destination.path) failed: \(error.cause)"
        case .explicitlyCancelled:
            "The request was explicitly cancelled."
        case .invalidURL(let url):
            if let problem = (url as? String).flatMap({ RequestTarget.problem(with: $0) }) {
                "This is not a URL: \(url.redactedText): \(problem)."
            } else {
                "This is not a URL: \(url.redactedText). It needs a scheme, a host and percent-encoded characters."
            }
        case .multipartEncodingFailed(let reason):
            "Encoding the multipart form failed: \(reason)"
        case .parameterEncodingFailed(let reason):
            "Encoding the parameters failed: \(reason)"
        case .parameterEncoderFailed(let reason):
            "Encoding the Encodable parameters failed: \(reason)"
        case .requestAdaptationFailed(let error):
            "A request adapter rejected the request: \(error.cause)"
        case .requestRetryFailed(let retryError, let originalError):
            "The request failed: \(originalError.cause) Its retrier also failed: \(retryError.cause)"
        case .responseValidationFailed(let reason):
            "The response was not acceptable: \(reason)"
        case .responseSerializationFailed(let reason):
            "The response could not be read: \(reason)"
        case .serverTrustEvaluationFailed(let reason):
            "The server is not trusted: \(reason)"
        case .sessionDeinitialized:
            "The session was deinitialized during the request. Keep a reference to it until its requests have finished."
        case .sessionInvalidated(let error):
            "The session was invalidated: \(error?.cause ?? "intentionally, without an error.")"
        case .sessionTaskFailed(let error):
            "The request failed: \(error.cause)"
        case .urlRequestValidationFailed(let reason):
            "The request is invalid and was not sent: \(reason)"
        }
    }
}

extension URLConvertible {
    /// The invalid value in quotes, shortened to a readable length and without a password.
    fileprivate var redactedText: String {
        let text: String =
            switch self {
            case let url as URL: url.absoluteString
            case let components as URLComponents: components.string ?? "\(components.path)"
            default: "\(self)"
            }
        let redacted = Redaction.standard.url(text)
        return redacted.count > 300 ? "\"\(redacted.prefix(300))…\"" : "\"\(redacted)\""
    }
}

extension AFError.MultipartEncodingFailureReason: CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .bodyPartURLInvalid(let url):
                "\(url) is not a file URL. Use URL(filePath:), or append the data itself."
            case .bodyPartFilenameInvalid(let url): "\(url) has no file name. Specify a file name for the part."
            case .bodyPartFileNotReachable(let url): "There is no readable file at \(url.path)."
            case .bodyPartFileNotReachableWithError(let url, let error):
                "The file \(url.path) cannot be accessed: \(error.cause)"
            case .bodyPartFileIsDirectory(let url): "\(url.path) is a directory. A part must be a file."
            case .bodyPartFileSizeNotAvailable(let url):
                "The length of \(url.path) is unknown. Append the file as a stream with a length."
            case .bodyPartFileSizeQueryFailedWithError(let url, let error):
                "The length of \(url.path) could not be determined: \(error.cause)"
            case .bodyPartInputStreamCreationFailed(let url): "The file \(url.path) could not be opened for reading."
            case .outputStreamCreationFailed(let url): "The file \(url.path) could not be opened for writing."
            case .outputStreamFileAlreadyExists(let url):
                "A file already exists at \(url.path). Remove it, or use another location."
            case .outputStreamURLInvalid(let url): "\(url) is not a file URL, so the form cannot be written there."
            case .outputStreamWriteFailed(let error as AFError.InvalidForm): error.description
            case .outputStreamWriteFailed(let error): "Writing the form failed: \(error.cause)"
            case .inputStreamReadFailed(let error): "Reading a part failed: \(error.cause)"
            }
        return Redaction.standard.line(text)
    }
}

extension AFError.UnexpectedInputStreamLength: CustomStringConvertible {
    /// A human-readable description with both numbers.
    public var description: String {
        "The stream of a part had \(bytesRead) bytes, but its specified length was \(bytesExpected)."
    }
}

extension AFError.ParameterEncodingFailureReason: CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .missingURL: "The request has no URL for a query. Set one, or encode into the body."
            case .jsonEncodingFailed(let error): "The parameters cannot be encoded as JSON: \(error.cause)"
            case .customEncodingFailed(let error): error.cause
            }
        return Redaction.standard.line(text)
    }
}

extension AFError.ParameterEncoderFailureReason: CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .missingRequiredComponent(.url): "The request has no URL. Set one before encoding."
            case .missingRequiredComponent(.httpMethod(let method)):
                "The request has no valid method (\"\(method)\"). Set one before encoding."
            case .encoderFailed(let error): error.cause
            }
        return Redaction.standard.line(text)
    }
}

extension AFError.URLRequestValidationFailureReason: CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .bodyDataInGETRequest(let body):
                "It is a GET with a body of \(body.count) bytes. Use another method, or put the parameters in the query."
            }
        return Redaction.standard.line(text)
    }
}

extension AFError.InvalidRequest: LocalizedError, CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .invalidMethod(let method): "\(method.debugDescription) is not an HTTP method."
            case .invalidHeaderName(let name): Self.describe(invalidName: name)
            case .invalidHeaderValue(let name):
                "The value of the header \(name) contains control characters, such as line breaks. Remove or encode them."
            case .unsupportedScheme(let scheme):
                "The URL has the scheme \(scheme.debugDescription). Only http and https are supported."
            case .malformedURL(let url, let reason):
                "The URL \(Redaction.standard.url(url.absoluteString)) is invalid: \(reason)"
            case .ambiguousURL(let url, let reason):
                "The URL \(Redaction.standard.url(url.absoluteString)) is ambiguous: \(reason)"
            case .conflictingContentLength:
                "Its Content-Length contradicts its body or its Transfer-Encoding. Remove the header, which is set automatically."
            case .tooManyHeaders(let count, let limit): "It has \(count) headers, but at most \(limit) are allowed."
            }
        return Redaction.standard.line(text)
    }

    /// Describes a name without the text after its first invalid character. That text is a secret if a whole line, such as
    /// "Authorization: Bearer …", was passed as a name.
    private static func describe(invalidName name: String) -> String {
        let start = name.prefix { $0.isASCII && $0.utf8.allSatisfy(\.isTokenCharacter) }
        guard let character = name.dropFirst(start.count).first else { return "A header has an empty name." }
        return "The header name that starts with \(String(start).debugDescription) contains the invalid character "
            + "\(String(character).debugDescription)."
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension AFError.InvalidForm: LocalizedError, CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .boundaryInvalid(let boundary):
                "\(boundary.debugDescription) is not a valid boundary. Omit it, or use 1 to 70 letters and digits."
            case .bodyPartHeadersInvalid(let error): "The headers of a part are invalid: \(error.cause)"
            }
        return Redaction.standard.line(text)
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension AFError.ResponseValidationFailureReason: CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .dataFileNil: "There is no file with the downloaded data."
            case .dataFileReadFailed(let url): "The downloaded file \(url.path) cannot be read."
            case .missingContentType(let acceptable):
                "It has no content type. Acceptable content types: \(acceptable.joined(separator: ", "))."
            case .unacceptableContentType(let acceptable, let type):
                "Its content type is \(type). Acceptable content types: \(acceptable.joined(separator: ", "))."
            case .unacceptableStatusCode(let code): "Its status code is \(code)."
            case .customValidationFailed(let error as RejectedResponse): error.underlyingError.cause
            case .customValidationFailed(let error): error.cause
            }
        return Redaction.standard.line(text)
    }
}

extension AFError.ResponseSerializationFailureReason: CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .inputDataNilOrZeroLength:
                "Its body is empty. To allow this, add its status code to emptyResponseCodes."
            case .inputFileNil: "There is no file with the downloaded data."
            case .inputFileReadFailed(let url): "The downloaded file \(url.path) cannot be read."
            case .stringSerializationFailed(let encoding): "Its body is not valid text in the encoding \(encoding)."
            case .jsonSerializationFailed(let error): "Its body is not JSON: \(error.cause)"
            case .decodingFailed(let error): "Its body does not match the requested type: \(error.cause)"
            case .customSerializationFailed(let error as any BodyFormatError):
                "\(type(of: error).problem): \(error.cause)"
            case .customSerializationFailed(let error): error.cause
            case .invalidEmptyResponse(let type):
                "Its body is empty, and \(type) has no empty value. Use Empty, or conform \(type) to EmptyResponse."
            }
        return Redaction.standard.line(text)
    }
}

extension AFError.ServerTrustFailureReason: CustomStringConvertible {
    /// A human-readable description of the reason.
    public var description: String {
        let text =
            switch self {
            case .noRequiredEvaluator(let host):
                "There is no trust evaluator for \(host). Add one, or set allHostsMustBeEvaluated to false."
            case .noCertificatesFound: "There are no certificates to pin. Pass at least one to the evaluator."
            case .noPublicKeysFound: "There are no public keys to pin. Pass at least one to the evaluator."
            case .policyApplicationFailed(let host, let message):
                "A policy could not be applied to \(host): \(message)"
            case .settingAnchorCertificatesFailed(let host, let message, let certificates):
                "Setting \(certificates.count) certificates to trust for \(host) failed: \(message)"
            case .revocationPolicyCreationFailed:
                "The policy that checks for revoked certificates could not be created."
            case .trustEvaluationFailed(let error): error?.cause ?? "Its certificate chain is not valid."
            case .defaultEvaluationFailed(let output):
                "The certificate chain of \(output.host) is not valid: \(output.error)"
            case .hostValidationFailed(let output):
                "The certificate of \(output.host) is not for that host: \(output.error)"
            case .revocationCheckFailed(let output, _):
                "The revocation check of the certificates of \(output.host) failed: \(output.error)"
            case .certificatePinningFailed(let host, _, let pinned, let presented):
                "\(host) presented \(presented.count) certificates, none of which is among the \(pinned.count) pinned ones."
            case .publicKeyPinningFailed(let host, _, let pinned, let presented):
                "\(host) presented the keys \(presented.map(\.pin).joined(separator: ", ")), "
                    + "none of which is among the \(pinned.count) pinned ones."
            case .customEvaluationFailed(let error): error.cause
            }
        return Redaction.standard.line(text)
    }
}
