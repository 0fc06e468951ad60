public import Foundation

extension AFError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
    /// What was wrong, where, and what to do about it, in a line or two.
    ///
    /// It is one line, whatever a server put into it: line breaks are spaces, and other control characters and invisible
    /// ones are written as `\u001B`. Credentials in URLs are hidden.
    public var errorDescription: String? {
        description
    }

    /// The same as `errorDescription`, so that printing an error gives away no password.
    public var description: String {
        Redaction.standard.line(message)
    }

    /// The same as `description`.
    public var debugDescription: String {
        description
    }

    private var message: String {
        switch self {
        case .createUploadableFailed(let error):
            "The value to upload could not be made ready, nothing was sent: \(error.cause)"
        case .createURLRequestFailed(let error):
            "No URLRequest could be made of the value given, nothing was sent: \(error.cause)"
        case .downloadedFileMoveFailed(let error, let source, let destination):
            "The download is complete, but moving it from \(source.path) to \(destination.path) failed: \(error.cause)"
        case .explicitlyCancelled:
            "The request was cancelled by its owner."
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
            "A request adapter refused the request: \(error.cause)"
        case .requestRetryFailed(let retryError, let originalError):
            "The request failed: \(originalError.cause) Then its retrier failed too: \(retryError.cause)"
        case .responseValidationFailed(let reason):
            "The response was not acceptable: \(reason)"
        case .responseSerializationFailed(let reason):
            "The response could not be read: \(reason)"
        case .serverTrustEvaluationFailed(let reason):
            "The server is not trusted: \(reason)"
        case .sessionDeinitialized:
            "The session was deinitialized while the request was under way. Keep a reference to it until its requests are done."
        case .sessionInvalidated(let error):
            "The session was invalidated: \(error?.cause ?? "on purpose, without an error.")"
        case .sessionTaskFailed(let error):
            "The exchange with the server failed: \(error.cause)"
        case .urlRequestValidationFailed(let reason):
            "The request must not be sent: \(reason)"
        }
    }
}

extension URLConvertible {
    /// What was given for a URL, in quotes, cut to a readable length and without a password.
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
