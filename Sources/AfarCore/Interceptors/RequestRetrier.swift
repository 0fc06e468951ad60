public import Foundation

/// Decides whether a failed request is tried again.
public protocol RequestRetrier: Sendable {
    /// Decides about one failure.
    ///
    /// It is called on an unspecified thread, after the attempt is over. The completion may be called from any thread;
    /// a second call does nothing. A cancelled request is not asked about.
    ///
    /// - Parameters:
    ///   - request: The request, with its ``Request/retryCount``.
    ///   - session: The session that sent it.
    ///   - error: Why it failed.
    ///   - completion: Takes the decision.
    @preconcurrency
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

/// What a retrier decides.
public enum RetryResult: Sendable {
    /// Try again at once.
    case retry
    /// Try again after so many seconds.
    case retryWithDelay(TimeInterval)
    /// Do not try again.
    case doNotRetry
    /// Do not try again, and fail with this error, as ``AFError/requestRetryFailed(retryError:originalError:)``.
    case doNotRetryWithError(any Error)
}

extension RetryResult {
    /// Whether the request is to be tried again, at once or later.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// How many seconds to wait before; nil for all but ``retryWithDelay(_:)``.
    public var delay: TimeInterval? {
        if case .retryWithDelay(let delay) = self { delay } else { nil }
    }

    /// What the request is to fail with; nil for all but ``doNotRetryWithError(_:)``.
    public var error: (any Error)? {
        if case .doNotRetryWithError(let error) = self { error } else { nil }
    }
}
