import AfarCore

/// Says what a test has set, and tells how many listen.
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

    /// How many listen.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// How many ever did.
    var listenersSoFar: Int { state.withLock { $0.lastID } }

    func connectivityUpdates() -> AsyncStream<Connectivity> {
        // A test counts on it that nothing is left out.
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

    /// Says nothing more.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            return state.listeners.values
        }
        for continuation in listeners { continuation.finish() }
    }

    /// Does something at once when the listener with this number comes, the first being 1: for what has to happen within a
    /// moment of that.
    func whenListenerComes(_ number: Int, _ reaction: @escaping @Sendable () -> Void) {
        state.withLock { $0.reactions[number] = reaction }
    }

    /// Returns once so many listen, and so many ever did.
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
