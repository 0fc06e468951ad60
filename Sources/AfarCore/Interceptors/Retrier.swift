/// Decides about a failure: see ``RequestRetrier/retry(_:for:dueTo:completion:)``.
public typealias RetryHandler =
    @Sendable (
        _ request: Request,
        _ session: Session,
        _ error: any Error,
        _ completion: @escaping @Sendable (RetryResult) -> Void
    ) -> Void

/// A retrier made of a closure.
open class Retrier: RequestInterceptor, @unchecked Sendable {
    // Sendable because the closure is, and never changes.

    private let retryHandler: RetryHandler

    /// Makes a retrier.
    ///
    /// - Parameter retryHandler: Called after each failure, on an unspecified thread.
    @preconcurrency
    public init(_ retryHandler: @escaping RetryHandler) {
        self.retryHandler = retryHandler
    }

    /// Calls the closure.
    @preconcurrency
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        retryHandler(request, session, error, completion)
    }
}
