#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An interceptor that combines several adapters and retriers.
///
/// The adapters run one after another, each on the result of the previous one, until one fails. The retriers run one after
/// another, until one returns a decision other than `doNotRetry`.
open class Interceptor: RequestInterceptor, @unchecked Sendable {
    // Sendable because nothing changes after init.

    /// The adapters, in the order in which they run.
    public let adapters: [any RequestAdapter]
    /// The retriers, in the order in which they run.
    public let retriers: [any RequestRetrier]

    /// Creates an interceptor from two closures.
    ///
    /// - Parameters:
    ///   - adaptHandler: Called once per attempt, on an unspecified thread.
    ///   - retryHandler: Called after each failure, on an unspecified thread.
    @preconcurrency
    public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
        adapters = [Adapter(adaptHandler)]
        retriers = [Retrier(retryHandler)]
    }

    /// Creates an interceptor from an adapter and a retrier.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
        adapters = [adapter]
        retriers = [retrier]
    }

    /// Creates an interceptor from any number of parts.
    ///
    /// - Parameters:
    ///   - adapters: The adapters to run first.
    ///   - retriers: The retriers to run first.
    ///   - interceptors: The interceptors to run after the adapters and after the retriers.
    public init(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// Runs the adapters, using the methods that take a session.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, from: 0, completion: completion) { [weak session] adapter, urlRequest, completion in
            guard let session else { return completion(.failure(AFError.sessionDeinitialized)) }
            adapter.adapt(urlRequest, for: session, completion: completion)
        }
    }

    /// Runs the adapters, using the methods that take a state.
    @preconcurrency
    open func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, from: 0, completion: completion) { [weakState = state.weak] adapter, urlRequest, completion in
            guard let state = weakState() else { return completion(.failure(AFError.sessionDeinitialized)) }
            adapter.adapt(urlRequest, using: state, completion: completion)
        }
    }

    private typealias Adapted = @Sendable (Result<URLRequest, any Error>) -> Void

    private func adapt(
        _ urlRequest: URLRequest,
        from index: Int,
        completion: @escaping Adapted,
        by step: @escaping @Sendable (any RequestAdapter, URLRequest, @escaping Adapted) -> Void
    ) {
        guard index < adapters.count else { return completion(.success(urlRequest)) }
        step(
            adapters[index], urlRequest,
            once { [self] result in
                switch result {
                case .success(let adapted): adapt(adapted, from: index + 1, completion: completion, by: step)
                case .failure: completion(result)
                }
            })
    }

    /// Runs the retriers.
    @preconcurrency
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        retry(request, for: session, dueTo: error, from: 0, completion: completion)
    }

    private func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        from index: Int,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard index < retriers.count, !request.hasEnded else { return completion(.doNotRetry) }
        retriers[index].retry(
            request, for: session, dueTo: error,
            // Weak, because a retrier that never completes may keep this closure forever.
            completion: once { [self, weak request, weak session] result in
                guard case .doNotRetry = result, let request, let session else { return completion(result) }
                retry(request, for: session, dueTo: error, from: index + 1, completion: completion)
            })
    }
}
