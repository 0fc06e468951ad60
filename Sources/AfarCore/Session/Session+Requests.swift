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
