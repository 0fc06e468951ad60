import Foundation

extension Request {
    /// The request's own interceptor, which runs after the session's.
    public var interceptor: (any RequestInterceptor)? { mutable.withLock { $0.settings.interceptor } }

    /// Adds an interceptor that runs after the request's other interceptors.
    ///
    /// Add it before the request starts, which by default happens with its first handler.
    ///
    /// - Parameter interceptor: The interceptor.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        add { $0.map { Interceptor(interceptors: [$0, interceptor]) } ?? interceptor }
    }

    /// Adds an adapter that runs after the request's other adapters.
    ///
    /// Add it before the request starts, which by default happens with its first handler.
    ///
    /// - Parameter adapter: The adapter.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self {
        add { present in Interceptor(adapters: present.asArray + [adapter], retriers: present.asArray) }
    }

    /// Adds a retrier that runs after the request's other retriers.
    ///
    /// Add it before the request starts, which by default happens with its first handler.
    ///
    /// - Parameter retrier: The retrier.
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

    /// Whether there is an interceptor.
    var isIntercepted: Bool { session.interceptor != nil || mutable.withLock { $0.settings.interceptor != nil } }

    /// Runs work for the current attempt, in a task that is cancelled if the request is ended from outside.
    func run(_ work: @escaping @Sendable () async -> Void) {
        // Not on the task pool, because user code can block its few threads.
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
