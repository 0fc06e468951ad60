import Foundation

/// Takes the place of a session's transport for the requests that are made in a task and in what it starts.
///
/// The sessions keep their configuration, but their cookies, cached responses and hosts that want https are apart: a test
/// finds none of another's.
package final class TransportOverride: Sendable {
    /// What holds for this task; nil where nothing takes the transports' place.
    @TaskLocal package static var current: TransportOverride?

    private let replacement: @Sendable (any Transport) -> any Transport
    private let stacks = Locked<[ObjectIdentifier: (session: SessionState, stack: TransportStack)]>([:])

    /// - Parameter replacement: What to use instead of a session's transport.
    package init(_ replacement: @escaping @Sendable (any Transport) -> any Transport) {
        self.replacement = replacement
    }

    /// The way that a session's requests go.
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
    /// The same with stores of its own.
    fileprivate var isolated: SessionConfiguration {
        var configuration = self
        if cookieStore != nil { configuration.cookieStore = MemoryCookieStore() }
        if hstsStore != nil { configuration.hstsStore = MemoryHSTSStore() }
        if cacheStore != nil { configuration.cacheStore = MemoryCacheStore() }
        return configuration
    }
}

extension DispatchQueue {
    /// Runs a user's closure later, with what takes the transports' place in the task that calls this.
    package func asyncWithTransport(_ work: @escaping @Sendable () -> Void) {
        guard let override = TransportOverride.current else { return async(execute: work) }
        async { TransportOverride.$current.withValue(override, operation: work) }
    }
}
