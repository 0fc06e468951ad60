/// The requests that have been started and are not over.
final class RunningRequests: Sendable {
    private struct Waiting {
        var requests: Set<ObjectIdentifier>
        let proceed: @Sendable () -> Void
    }

    private struct State {
        var requests: [ObjectIdentifier: Request] = [:]
        var waiting: [Waiting] = []

        /// Takes out those who have nothing to wait for any more.
        mutating func takeReady() -> [Waiting] {
            let ready = waiting.filter(\.requests.isEmpty)
            if !ready.isEmpty { waiting.removeAll(where: \.requests.isEmpty) }
            return ready
        }
    }

    private let state = Locked(State())

    func insert(_ request: Request) {
        state.withLock { $0.requests[ObjectIdentifier(request)] = request }
    }

    func remove(_ request: Request) {
        let ready = state.withLock { state in
            state.requests[ObjectIdentifier(request)] = nil
            guard !state.waiting.isEmpty else { return [] as [Waiting] }
            for index in state.waiting.indices { state.waiting[index].requests.remove(ObjectIdentifier(request)) }
            return state.takeReady()
        }
        for waiting in ready { waiting.proceed() }
    }

    var all: [Request] { state.withLock { Array($0.requests.values) } }

    /// Those of one session.
    func requests(of context: SessionContext) -> Set<Request> { Set(all.filter { $0.context === context }) }

    /// Calls a closure when none of these is running any more; at once, if none is.
    func whenOver(_ requests: Set<Request>, _ proceed: @escaping @Sendable () -> Void) {
        let ready = state.withLock { state in
            let running = Set(requests.map(ObjectIdentifier.init)).intersection(state.requests.keys)
            state.waiting.append(Waiting(requests: running, proceed: proceed))
            return state.takeReady()
        }
        for waiting in ready { waiting.proceed() }
    }
}
