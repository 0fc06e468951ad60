extension RawServer {
    /// Holds scripts until a test opens it. Once open it stays open.
    public final class Gate: Sendable {
        private let state = Locked(State())

        private struct State {
            var isOpen = false
            var waiting: [@Sendable () -> Void] = []
        }

        /// Makes a closed gate.
        public init() {}

        /// Lets all scripts through that wait at the gate, and those that come to it later.
        public func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            waiting.forEach { $0() }
        }

        /// Runs `body` when the gate opens, at once if it is open.
        func whenOpen(_ body: @escaping @Sendable () -> Void) {
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(body) }
                return state.isOpen
            }
            if isOpen { body() }
        }
    }
}
