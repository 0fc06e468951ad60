public import Foundation

/// Replaces a session's transport for the requests that are created in a task and its child tasks.
///
/// Sessions keep their configuration but use separate cookie, cache and HSTS stores, so tests don't share state.
package final class TransportOverride: Sendable {
    /// The override of the current task, or nil without one.
    @TaskLocal package static var current: TransportOverride?

    private let replacement: @Sendable (any Transport) -> any Transport
    private let stacks = Locked<[ObjectIdentifier: (session: SessionState, stack: TransportStack)]>([:])

    /// - Parameter replacement: Returns the transport to use instead of a session's transport.
    package init(_ replacement: @escaping @Sendable (any Transport) -> any Transport) {
        self.replacement = replacement
    }

    /// Returns the stack that a session's requests use.
    func stack(for session: SessionState) -> TransportStack {
        stacks.withLock { stacks in
            let id = ObjectIdentifier(session)
            if let known = stacks[id] { return known.stack }
            let transport = replacement(session.stack.transport)
            let stack = session.makeStack(session.configuration.isolated, over: transport)
            stacks[id] = (session, stack)
            return stack
        }
    }
}

extension SessionConfiguration {
    /// A copy of the configuration with separate stores.
    fileprivate var isolated: SessionConfiguration {
        var configuration = self
        if cookieStore != nil { configuration.cookieStore = MemoryCookieStore() }
        if hstsStore != nil { configuration.hstsStore = MemoryHSTSStore() }
        if cacheStore != nil { configuration.cacheStore = MemoryCacheStore() }
        return configuration
    }
}

extension DispatchQueue {
    /// Calls a closure asynchronously. If a test has replaced the transport of sessions for the calling task, that also applies to
    /// requests that the closure makes.
    ///
    /// Libraries use it to call their users' handlers on a queue.
    public func asyncKeepingTransport(_ work: @escaping @Sendable () -> Void) {
        guard let override = TransportOverride.current else { return async(execute: work) }
        async { TransportOverride.$current.withValue(override, operation: work) }
    }
}
