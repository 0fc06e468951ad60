public import Foundation

extension Session {
    /// Calls a closure with the requests that have started and haven't finished.
    ///
    /// - Parameter action: Called once, on the ``rootQueue``.
    @preconcurrency
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.asyncKeepingTransport { [state] in action(Set(state.running)) }
    }

    /// Cancels the requests that have started and haven't finished.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - completion: Called once, after all of these requests have finished and their handlers have been enqueued on their
    ///     queues.
    @preconcurrency
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        let requests = state.running
        for request in requests { request.cancel() }
        guard let completion else { return }
        state.whenFinished(requests) { queue.asyncKeepingTransport(completion) }
    }
}

extension Session {
    /// How long a shutdown waits for the handlers of the requests that it ended, in seconds.
    private static let closeGracePeriod = 2.0

    /// Shuts the session down gracefully.
    ///
    /// Running requests can finish within the time limit, and new requests fail with ``AFError/sessionInvalidated(error:)``.
    /// WebSockets are closed with ``WebSocketCloseCode/goingAway``. Raw connections continue until the limit. Idle connections
    /// are closed at the beginning and at the end.
    ///
    /// ```swift
    /// await session.shutdown(drainingFor: 20)
    /// ```
    ///
    /// Call this method when a service must stop, for example in `run()` of a `Service`. If the task that awaits this method is
    /// canceled, the limit expires immediately. You can call the method more than once. The shortest limit applies.
    ///
    /// - Parameter limit: The time that running requests have to finish, in seconds. Requests that are still running after this
    ///   time fail with ``AFError/sessionInvalidated(error:)``. The default is 30. With 0, the requests end immediately.
    /// - Returns: A Boolean value that indicates whether all requests finished within the limit.
    @discardableResult
    public func shutdown(drainingFor limit: TimeInterval = 30) async -> Bool {
        state.drain()
        for case let socket as WebSocketRequest in state.running { socket.close(sending: .goingAway) }
        state.stack.transport.closeIdleConnections()
        let finished = Deferred<Bool>()
        state.whenFinished(state.running) { finished.fulfill(true) }
        let timer = finished.fulfill(false, after: .seconds(max(0, min(limit, 1e9))))
        let allFinished = await finished.value(ifCancelled: false)
        timer.cancel()
        let remaining = state.running
        state.end(with: .sessionInvalidated(error: nil))
        let isDone = Deferred<Void>()
        state.whenFinished(remaining) { isDone.fulfill(()) }
        // The wait is limited, because a handler might wait for this method, or a handler's queue might be blocked.
        let lastTimer = isDone.fulfill((), after: .seconds(Self.closeGracePeriod))
        await isDone.value
        lastTimer.cancel()
        state.stack.transport.closeIdleConnections()
        return allFinished
    }

    /// Fails new requests with ``AFError/sessionInvalidated(error:)`` from now on, and invalidates the session after the running
    /// requests have finished. The session is retained until then.
    public func finishRequestsAndInvalidate() {
        state.drain()
        Task { await shutdown(drainingFor: .infinity) }
    }
}
