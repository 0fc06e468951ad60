public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A type that is both an adapter and a retrier. The default implementations do nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Leaves the request unchanged.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Doesn't retry.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

/// A type that changes a `URLRequest` before it is sent. The adapter is called once per attempt. It isn't called for redirects.
public protocol RequestAdapter: Sendable {
    /// Adapts a request.
    ///
    /// Called on an unspecified thread. The completion can be called from any thread; a second call has no effect.
    ///
    /// - Parameters:
    ///   - urlRequest: The request to adapt.
    ///   - session: The session that sends the request.
    ///   - completion: Receives the adapted request, or an error that fails the attempt as
    ///     ``AFError/requestAdaptationFailed(error:)``.
    @preconcurrency
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    )

    /// Adapts a request. The state identifies the request. The default implementation calls ``adapt(_:for:completion:)``.
    @preconcurrency
    func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    )
}

extension RequestAdapter {
    /// Calls ``adapt(_:for:completion:)``.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, completion: completion)
    }
}

/// Information about the request that an adapter changes.
public struct RequestAdapterState: Sendable {
    private enum Subject {
        case request(Request)
        case identifier(UUID)
    }

    private let subject: Subject
    /// The session that sends the request.
    public let session: Session

    /// Creates a state, for testing an adapter.
    public init(requestID: UUID, session: Session) {
        subject = .identifier(requestID)
        self.session = session
    }

    init(request: Request, session: Session) {
        subject = .request(request)
        self.session = session
    }

    /// The request's identifier. See ``Request/id``.
    public var requestID: UUID {
        switch subject {
        case .request(let request): request.id
        case .identifier(let identifier): identifier
        }
    }

    /// A closure that returns the state, or nil after its session or request has been released. It retains neither of them.
    var weak: @Sendable () -> RequestAdapterState? {
        switch subject {
        case .request(let request):
            { [weak request, weak session] in
                guard let request, let session else { return nil }
                return RequestAdapterState(request: request, session: session)
            }
        case .identifier(let identifier):
            { [weak session] in session.map { RequestAdapterState(requestID: identifier, session: $0) } }
        }
    }

    /// The request, or nil in a state created for testing.
    public var request: Request? {
        if case .request(let request) = subject { request } else { nil }
    }
}

/// A type that decides whether a failed request is retried.
public protocol RequestRetrier: Sendable {
    /// Decides whether to retry a request after a failure. ``Request/retryCount`` is the number of the request's retries so
    /// far.
    ///
    /// Called on an unspecified thread after the attempt has ended. Not called for a canceled request. The completion can be
    /// called from any thread; a second call has no effect.
    @preconcurrency
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

/// A retrier's decision.
public enum RetryResult: Sendable {
    /// Retry immediately.
    case retry
    /// Retry after a number of seconds.
    case retryWithDelay(TimeInterval)
    /// Don't retry.
    case doNotRetry
    /// Don't retry, and fail with this error as ``AFError/requestRetryFailed(retryError:originalError:)``.
    case doNotRetryWithError(any Error)
}

extension RetryResult {
    /// A Boolean value that indicates whether the request is retried, immediately or later.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// The number of seconds before the retry if the decision is ``retryWithDelay(_:)``; otherwise nil.
    public var delay: TimeInterval? {
        if case .retryWithDelay(let delay) = self { delay } else { nil }
    }

    /// The error to fail with if the decision is ``doNotRetryWithError(_:)``; otherwise nil.
    public var error: (any Error)? {
        if case .doNotRetryWithError(let error) = self { error } else { nil }
    }
}

/// An adapter that uses `async` and `throws` instead of a completion handler.
///
/// The task that runs the method is canceled with the request. If the method throws an error, the request fails with
/// ``AFError/requestAdaptationFailed(error:)``. To pass the type where an interceptor is required, also conform it to
/// ``RequestInterceptor``.
public protocol AsyncRequestAdapter: RequestAdapter {
    /// Returns the adapted request. Called once per attempt, in its own task.
    func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest

    /// Returns the adapted request. The state identifies the request. The default implementation calls ``adapt(_:for:)``.
    func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest
}

extension AsyncRequestAdapter {
    /// Calls the method that takes a session.
    public func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest {
        try await adapt(urlRequest, for: state.session)
    }

    /// Calls the `async` method in a task that is canceled with the request.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        let work: @Sendable () async -> Void = {
            do { completion(.success(try await adapt(urlRequest, using: state))) } catch { completion(.failure(error)) }
        }
        if let request = state.request { request.run(work) } else { Task(operation: work) }
    }

    /// Calls the `async` method in a task that is never canceled.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        start(urlRequest, for: session, completion: completion)
    }

    fileprivate func start(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        Task {
            do { completion(.success(try await adapt(urlRequest, for: session))) } catch { completion(.failure(error)) }
        }
    }
}

// Resolves the ambiguity between the default implementations of both protocols.
extension AsyncRequestAdapter where Self: RequestInterceptor {
    /// Calls the `async` method in a task that is never canceled.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        start(urlRequest, for: session, completion: completion)
    }
}

/// A retrier that uses `async` and `throws` instead of a completion handler.
///
/// The task that runs the method is canceled with the request. To pass the type where an interceptor is required, also conform
/// it to ``RequestInterceptor``.
public protocol AsyncRequestRetrier: RequestRetrier {
    /// Returns the decision about a failure. Called in its own task after the attempt has ended. Not called for a canceled
    /// request.
    ///
    /// - Throws: Any error. The request then fails with ``AFError/requestRetryFailed(retryError:originalError:)``, as after
    ///   ``RetryResult/doNotRetryWithError(_:)``.
    func retry(_ request: Request, for session: Session, dueTo error: any Error) async throws -> RetryResult
}

extension AsyncRequestRetrier {
    /// Calls the `async` method in a task that is canceled with the request.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        decide(about: request, for: session, dueTo: error, completion: completion)
    }

    fileprivate func decide(
        about request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        request.run {
            do {
                completion(try await retry(request, for: session, dueTo: error))
            } catch {
                completion(.doNotRetryWithError(error))
            }
        }
    }
}

// Resolves the ambiguity between the default implementations of both protocols.
extension AsyncRequestRetrier where Self: RequestInterceptor {
    /// Calls the `async` method in a task that is canceled with the request.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        decide(about: request, for: session, dueTo: error, completion: completion)
    }
}
