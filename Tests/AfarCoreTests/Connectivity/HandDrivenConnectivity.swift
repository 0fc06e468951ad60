import AfarCore

/// Says what a test has set, and tells how many listen.
final class HandDrivenConnectivity: ConnectivityProvider {
    private struct State {
        var connectivity: Connectivity
        var listeners: [Int: AsyncStream<Connectivity>.Continuation] = [:]
        var lastID = 0
        var isOver = false
        var whenCounted: [(isMet: @Sendable (Int) -> Bool, deferred: Deferred<Void>)] = []

        mutating func takeMet() -> [Deferred<Void>] {
            let count = listeners.count
            defer { whenCounted.removeAll { $0.isMet(count) } }
            return whenCounted.filter { $0.isMet(count) }.map(\.deferred)
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
        let (stream, continuation) = AsyncStream.makeStream(
            of: Connectivity.self, bufferingPolicy: .bufferingNewest(1))
        let (id, met) = state.withLock { state in
            state.lastID += 1
            continuation.yield(state.connectivity)
            if state.isOver { continuation.finish() } else { state.listeners[state.lastID] = continuation }
            return (state.lastID, state.takeMet())
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        for deferred in met { deferred.fulfil(()) }
        return stream
    }

    private func remove(_ id: Int) {
        let met = state.withLock { state in
            state.listeners[id] = nil
            return state.takeMet()
        }
        for deferred in met { deferred.fulfil(()) }
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

    /// Returns once so many listen.
    func hasListeners(_ count: Int) async { await listeners { $0 == count } }

    private func listeners(_ isMet: @escaping @Sendable (Int) -> Bool) async {
        let deferred = Deferred<Void>()
        let met = state.withLock { state in
            state.whenCounted.append((isMet, deferred))
            return state.takeMet()
        }
        for deferred in met { deferred.fulfil(()) }
        await deferred.value
    }
}
