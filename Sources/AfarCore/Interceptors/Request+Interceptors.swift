import Foundation

extension Request {
    /// The request's own interceptor; the session's comes before it. Nil when there is none.
    public var interceptor: (any RequestInterceptor)? { mutable.withLock { $0.settings.interceptor } }

    /// Adds an interceptor that comes after those that the request has.
    ///
    /// Add it before the request is started, which its first handler does by default.
    ///
    /// - Parameter interceptor: Adapts and retries this request.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        add { $0.map { Interceptor(interceptors: [$0, interceptor]) } ?? interceptor }
    }

    /// Adds an adapter that runs after those that the request has.
    ///
    /// Add it before the request is started, which its first handler does by default.
    ///
    /// - Parameter adapter: Adapts this request.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self {
        add { present in Interceptor(adapters: present.asArray + [adapter], retriers: present.asArray) }
    }

    /// Adds a retrier that is asked after those that the request has.
    ///
    /// Add it before the request is started, which its first handler does by default.
    ///
    /// - Parameter retrier: Decides about this request's failures.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self {
        add { present in Interceptor(adapters: present.asArray, retriers: present.asArray + [retrier]) }
    }

    private func add(_ combine: ((any RequestInterceptor)?) -> any RequestInterceptor) -> Self {
        mutable.withLock { $0.settings.interceptor = combine($0.settings.interceptor) }
        return self
    }

    // MARK: For the pipeline

    /// The session's interceptor and the request's own, in the order in which they have their say.
    var interceptors: [any RequestInterceptor] { [session.interceptor, interceptor].compactMap { $0 } }

    /// Whether there is any.
    var isIntercepted: Bool { session.interceptor != nil || mutable.withLock { $0.settings.interceptor != nil } }

    /// Does something for the attempt that runs, in a task that is cancelled when the request ends from outside.
    func run(_ work: @escaping @Sendable () async -> Void) {
        // Programs block the few threads of the task pool.
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
