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
    // Sendable: nothing changes after init.

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

    /// Creates an interceptor from any number of adapters, retriers and interceptors.
    ///
    /// - Parameters:
    ///   - adapters: The adapters to run first.
    ///   - retriers: The retriers to run first.
    ///   - interceptors: The interceptors to run after the adapters and the retriers.
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
            // Weak, because a retrier that never completes can keep this closure forever.
            completion: once { [self, weak request, weak session] result in
                guard case .doNotRetry = result, let request, let session else { return completion(result) }
                retry(request, for: session, dueTo: error, from: index + 1, completion: completion)
            })
    }
}

// MARK: - Closures

/// A closure that adapts a request. See ``RequestAdapter/adapt(_:for:completion:)``.
public typealias AdaptHandler =
    @Sendable (
        _ request: URLRequest,
        _ session: Session,
        _ completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> Void

/// An adapter that calls a closure.
open class Adapter: RequestInterceptor, @unchecked Sendable {
    // Sendable: the closure is constant.

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
    // Sendable: the closure is constant.

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

// MARK: - Factories

extension RequestAdapter where Self == Adapter {
    /// Returns an adapter that calls a closure once per attempt, on an unspecified thread.
    @preconcurrency
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
    /// Returns a retrier that calls a closure after each failure, on an unspecified thread.
    @preconcurrency
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
    /// Returns an interceptor that calls two closures.
    @preconcurrency
    public static func interceptor(adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// Returns an interceptor that combines an adapter and a retrier.
    public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier)
    }

    /// Returns an interceptor that combines adapters, retriers and interceptors. The interceptors run last.
    public static func interceptor(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}

// MARK: - Requests

extension Request {
    /// The request's own interceptor, which runs after the session's.
    public var interceptor: (any RequestInterceptor)? { mutable.withLock { $0.settings.interceptor } }

    /// Adds an interceptor that runs after the request's other interceptors.
    ///
    /// Call this method before the request starts. By default, the first handler starts the request.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        add { $0.map { Interceptor(interceptors: [$0, interceptor]) } ?? interceptor }
    }

    /// Adds an adapter that runs after the request's other adapters.
    ///
    /// Call this method before the request starts. By default, the first handler starts the request.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self {
        add { present in Interceptor(adapters: present.asArray + [adapter], retriers: present.asArray) }
    }

    /// Adds a retrier that runs after the request's other retriers.
    ///
    /// Call this method before the request starts. By default, the first handler starts the request.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self {
        add { present in Interceptor(adapters: present.asArray, retriers: present.asArray + [retrier]) }
    }

    private func add(_ combine: ((any RequestInterceptor)?) -> any RequestInterceptor) -> Self {
        mutable.withLock { $0.settings.interceptor = combine($0.settings.interceptor) }
        return self
    }

    // MARK: For the pipeline

    /// The session's interceptor and the request's own, in the order in which they run.
    var interceptors: [any RequestInterceptor] { [session.interceptor, interceptor].compactMap { $0 } }

    var isIntercepted: Bool { session.interceptor != nil || mutable.withLock { $0.settings.interceptor != nil } }

    /// Runs work for the current attempt, in a task that is canceled if the request ends first.
    func run(_ work: @escaping @Sendable () async -> Void) {
        // Don't use the task pool, because user code could block its few threads.
        let task = Task(executorPreference: QueueExecutor.global, operation: work)
        let mustCancel = mutable.withLock { state in
            state.attempt.work.append(task)
            return state.end != nil
        }
        if mustCancel { task.cancel() }
    }
}

extension Optional where Wrapped == any RequestInterceptor {
    fileprivate var asArray: [any RequestInterceptor] { map { [$0] } ?? [] }
}
