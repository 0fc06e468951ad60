import Dispatch

#if os(Linux)
    import CNetlink
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Looks up the addresses of a name on threads of its own, because that may take long.
final class HostResolver: Sendable {
    /// How long to wait before each new try, while a name has no address.
    private static let delays: [Int] = [1, 2, 4, 8, 16]

    private struct State {
        var addresses: [IPAddress]?
        /// When the last search began.
        var lastStart: ContinuousClock.Instant?
        var isRunning = false
        /// Whether to look again, because something changed while a search was running.
        var isOutdated = false
        var failures = 0
        /// Counts the searches that were asked for, so that an old new try is known.
        var generation = 0
        var onChange: (@Sendable () -> Void)?
    }

    private let name: String
    private let state = Locked(State())

    init(name: String) { self.name = name }

    /// The addresses that were found last, or nil before the first search has ended.
    var addresses: [IPAddress]? { state.withLock { $0.addresses } }

    /// What is called, on any thread, when the first search has ended, and when the addresses have changed.
    func onChange(_ handler: (@Sendable () -> Void)?) {
        state.exchange(\.onChange, for: handler)
    }

    /// Looks the name up, and again a few times if it has no address.
    ///
    /// - Parameter age: Not if that is being done, or was begun less than this long ago; nil looks in any case.
    func refresh(after age: Duration? = nil) {
        let mustStart = state.withLock { state in
            if let age, state.isRunning || state.lastStart.map({ .now - $0 < age }) ?? false { return false }
            state.failures = 0
            state.generation += 1
            state.isOutdated = state.isRunning
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { start() }
    }

    private func start() {
        state.withLock { $0.lastStart = .now }
        DispatchQueue.global(qos: .utility).async { [self] in
            finish(Self.lookUp(name))
        }
    }

    private func finish(_ addresses: [IPAddress]) {
        let (mustStart, delay, generation, handler) = state.withLock { state in
            let hasChanged = state.addresses.map { Set($0) != Set(addresses) } ?? true
            if hasChanged { state.addresses = addresses }
            let mustStart = state.isOutdated
            state.isOutdated = false
            state.isRunning = mustStart
            var delay: Int?
            // Nobody waits for a name when nobody watches.
            if addresses.isEmpty, !mustStart, state.onChange != nil, state.failures < Self.delays.count {
                delay = Self.delays[state.failures]
                state.failures += 1
            }
            return (mustStart, delay, state.generation, hasChanged ? state.onChange : nil)
        }
        handler?()
        if mustStart { start() }
        if let delay { tryAgain(generation, after: delay) }
    }

    private func tryAgain(_ generation: Int, after seconds: Int) {
        #if os(Linux)
            // Descriptors may be what the search had too few of.
            try? Thread.start(after: seconds) { [weak self] in self?.tryAgain(generation) }
        #else
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
                self?.tryAgain(generation)
            }
        #endif
    }

    private func tryAgain(_ generation: Int) {
        let mustStart = state.withLock { state in
            guard state.generation == generation, !state.isRunning, state.onChange != nil else { return false }
            state.isRunning = true
            return true
        }
        if mustStart { start() }
    }

    private static func lookUp(_ name: String) -> [IPAddress] {
        // getaddrinfo would read up to there.
        guard !name.utf8.contains(0) else { return [] }
        var hints = addrinfo()
        #if os(Linux)
            hints.ai_socktype = AFAR_SOCK_STREAM
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        for entry in sequence(first: list, next: { $0?.pointee.ai_next }) {
            if let pointer = entry?.pointee.ai_addr, let address = IPAddress(socketAddress: pointer) {
                addresses.append(address.unmapped)
            }
        }
        return addresses.uniqued()
    }
}
