public import AfarCore
public import Foundation

/// Why an ``ImageDownloader`` has no image.
public enum AFIError: Error {
    /// The request was cancelled, by its receipt or otherwise.
    case requestCancelled
    /// The response is no image, or none that could be decoded.
    case imageSerializationFailed(ImageError)
    /// The request failed.
    case alamofireError(AFError)

    init(_ error: AFError) {
        if let cause = error.underlyingError as? ImageError {
            self = .imageSerializationFailed(cause)
        } else {
            self = error.isExplicitlyCancelledError ? .requestCancelled : .alamofireError(error)
        }
    }
}

extension AFIError: LocalizedError {
    /// What went wrong, in one line.
    public var errorDescription: String? {
        switch self {
        case .requestCancelled: "The image was not wanted any more: its request was cancelled."
        case .imageSerializationFailed(let error): error.errorDescription
        case .alamofireError(let error): error.errorDescription
        }
    }
}

extension AFIError {
    /// Whether this is ``requestCancelled``.
    public var isRequestCancelledError: Bool {
        if case .requestCancelled = self { true } else { false }
    }

    /// Whether this is ``imageSerializationFailed(_:)``.
    public var isImageSerializationFailedError: Bool {
        if case .imageSerializationFailed = self { true } else { false }
    }

    /// Whether this is ``alamofireError(_:)``.
    public var isAlamofireError: Bool {
        if case .alamofireError = self { true } else { false }
    }
}
