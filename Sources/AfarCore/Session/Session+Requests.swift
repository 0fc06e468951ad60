public import Foundation

// All of a session's requests at once.
extension Session {
    /// Calls a closure with the requests that have been started and are not over.
    ///
    /// - Parameter action: Called once, on the ``rootQueue``.
    @preconcurrency
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        rootQueue.async { [state] in action(Set(state.running)) }
    }

    /// Cancels the requests that have been started and are not over.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue.
    ///   - completion: Called once, when all of these requests are over and their handlers have been put onto their
    ///     queues.
    @preconcurrency
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
    ) {
        let requests = state.running
        for request in requests { request.cancel() }
        guard let completion else { return }
        state.whenOver(requests) { queue.async(execute: completion) }
    }
}

extension Session {
    /// How long it may take until handlers have been called of requests that were ended, in seconds.
    private static let longestFarewell = 2.0

    /// Ends the session in good order: requests that run may come to their end, for a time; new ones fail with
    /// ``AFError/sessionInvalidated(error:)``. WebSockets are closed, with ``WebSocketCloseCode/goingAway``; raw connections
    /// run on. Connections without a request are closed at the beginning and at the end.
    ///
    /// ```swift
    /// await session.shutdown(drainingFor: 20)
    /// ```
    ///
    /// It fits the end of a service's life: call it when the service is told to stop, from `run()` of a `Service` say. Cancelling
    /// the task that waits ends the time. It may be called more than once; the shortest time counts.
    ///
    /// - Parameter limit: How long requests may run on, in seconds; those that still do then fail with
    ///   ``AFError/sessionInvalidated(error:)``. 0 ends them at once.
    /// - Returns: Whether all had come to their end by themselves.
    @discardableResult
    public func shutdown(drainingFor limit: TimeInterval = 30) async -> Bool {
        state.drain()
        for case let socket as WebSocketRequest in state.running { socket.close(sending: .goingAway) }
        state.stack.transport.closeIdleConnections()
        let over = Deferred<Bool>()
        state.whenOver(state.running) { over.fulfil(true) }
        let timer = over.fulfil(false, after: .seconds(max(0, min(limit, 1e9))))
        let areOver = await withTaskCancellationHandler {
            await over.value
        } onCancel: {
            over.fulfil(false)
        }
        timer.cancel()
        let rest = state.running
        state.end(with: .sessionInvalidated(error: nil))
        let isDone = Deferred<Void>()
        state.whenOver(rest) { isDone.fulfil(()) }
        // A handler may wait for this, or for a queue that nobody serves.
        let lastTimer = isDone.fulfil((), after: .seconds(Self.longestFarewell))
        await isDone.value
        lastTimer.cancel()
        state.stack.transport.closeIdleConnections()
        return areOver
    }
}
