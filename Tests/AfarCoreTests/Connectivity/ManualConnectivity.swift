import AfarCore

/// A provider whose value the test sets. It counts its listeners.
final class ManualConnectivity: ConnectivityProvider {
    private struct State {
        var connectivity: Connectivity
        var listeners: [Int: AsyncStream<Connectivity>.Continuation] = [:]
        var lastID = 0
        var isOver = false
        var waiting: [(count: Int, soFar: Int?, deferred: Deferred<Void>)] = []
        var reactions: [Int: @Sendable () -> Void] = [:]

        mutating func takeMet() -> [Deferred<Void>] {
            let met = waiting.filter { $0.count == listeners.count && $0.soFar ?? lastID == lastID }.map(\.deferred)
            waiting.removeAll { waiting in met.contains { $0 === waiting.deferred } }
            return met
        }
    }

    private let state: Locked<State>

    init(_ status: Connectivity.Status, interfaceTypes: Set<Connectivity.InterfaceType> = [], identity: Int = 0) {
        let connectivity = Connectivity(status, interfaceTypes: interfaceTypes, identity: identity)
        state = Locked(State(connectivity: connectivity))
    }

    var connectivity: Connectivity { state.withLock { $0.connectivity } }

    /// The number of current listeners.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// The number of listeners so far.
    var listenersSoFar: Int { state.withLock { $0.lastID } }

    func connectivityUpdates() -> AsyncStream<Connectivity> {
        // Unbounded, because tests rely on receiving every value.
        let (stream, continuation) = AsyncStream.makeStream(of: Connectivity.self)
        let (id, met) = state.withLock { state in
            state.lastID += 1
            if state.isOver {
                continuation.finish()
            } else {
                continuation.yield(state.connectivity)
                state.listeners[state.lastID] = continuation
            }
            return (state.lastID, state.takeMet())
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        state.withLock { $0.reactions.removeValue(forKey: id) }?()
        for deferred in met { deferred.fulfill(()) }
        return stream
    }

    private func remove(_ id: Int) {
        let met = state.withLock { state in
            state.listeners[id] = nil
            return state.takeMet()
        }
        for deferred in met { deferred.fulfill(()) }
    }

    func set(_ status: Connectivity.Status, interfaceTypes: Set<Connectivity.InterfaceType> = [], identity: Int = 0) {
        let connectivity = Connectivity(status, interfaceTypes: interfaceTypes, identity: identity)
        state.withLock { state in
            state.connectivity = connectivity
            for continuation in state.listeners.values { continuation.yield(connectivity) }
        }
    }

    /// Finishes all streams.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            return state.listeners.values
        }
        for continuation in listeners { continuation.finish() }
    }

    /// Calls a closure immediately when the given listener is added.
    ///
    /// - Parameter number: The listener's number, beginning with 1.
    func whenListenerComes(_ number: Int, _ reaction: @escaping @Sendable () -> Void) {
        state.withLock { $0.reactions[number] = reaction }
    }

    /// Returns when the number of current listeners is `count` and, if `soFar` isn't `nil`, the number of listeners so
    /// far is `soFar`.
    func hasListeners(_ count: Int, soFar: Int? = nil) async {
        let deferred = Deferred<Void>()
        let met = state.withLock { state in
            state.waiting.append((count, soFar, deferred))
            return state.takeMet()
        }
        for deferred in met { deferred.fulfill(()) }
        await deferred.value
    }
}
