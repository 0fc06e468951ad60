#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A closure that adapts a request. See ``RequestAdapter/adapt(_:for:completion:)``.
public typealias AdaptHandler =
    @Sendable (
        _ request: URLRequest,
        _ session: Session,
        _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> Void

/// An adapter that calls a closure.
open class Adapter: RequestInterceptor, @unchecked Sendable {
    // Sendable because the closure is Sendable and never changes.

    private let adaptHandler: AdaptHandler

    /// Creates an adapter.
    ///
    /// - Parameter adaptHandler: Called once per attempt, on an unspecified thread.
    @preconcurrency
    public init(_ adaptHandler: @escaping AdaptHandler) {
        self.adaptHandler = adaptHandler
    }

    /// Calls the closure.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adaptHandler(urlRequest, session, completion)
    }

    /// Calls the closure.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adaptHandler(urlRequest, state.session, completion)
    }
}

/// A closure that decides whether to retry a failed request. See ``RequestRetrier/retry(_:for:dueTo:completion:)``.
public typealias RetryHandler =
    @Sendable (
        _ request: Request,
        _ session: Session,
        _ error: any Error,
        _ completion: @escaping @Sendable (RetryResult) -> Void
    ) -> Void

/// A retrier that calls a closure.
open class Retrier: RequestInterceptor, @unchecked Sendable {
    // Sendable because the closure is Sendable and never changes.

    private let retryHandler: RetryHandler

    /// Creates a retrier.
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
