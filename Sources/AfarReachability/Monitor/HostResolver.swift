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

/// Resolves a host name. Lookups can block, so they run on separate threads.
final class HostResolver: Sendable {
    /// The delay before each retry while the name has no address, in seconds.
    private static let delays: [Int] = [1, 2, 4, 8, 16]

    private struct State {
        var addresses: [IPAddress]?
        /// The time at which the last lookup began.
        var lastStart: ContinuousClock.Instant?
        var isRunning = false
        /// Whether another lookup must follow because the network changed during the current lookup.
        var isOutdated = false
        var failures = 0
        /// Identifies the latest lookup, so that retries of earlier lookups are discarded.
        var generation = 0
        var onChange: (@Sendable () -> Void)?
    }

    private let name: String
    private let state = Locked(State())

    init(name: String) { self.name = name }

    /// The result of the last lookup, or `nil` before the first lookup has finished.
    var addresses: [IPAddress]? { state.withLock { $0.addresses } }

    /// Sets the closure to call when the first lookup has finished and whenever the addresses change. The closure can run on
    /// any thread.
    func onChange(_ handler: (@Sendable () -> Void)?) {
        state.exchange(\.onChange, for: handler)
    }

    /// Looks the name up, and retries a few times if it has no address.
    ///
    /// - Parameter age: The minimum time since the last lookup began. If a lookup is running or began more recently, the
    ///   call does nothing. With `nil`, the name is always looked up.
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
            // Without an observer, retries are pointless.
            if addresses.isEmpty, !mustStart, state.onChange != nil, state.failures < Self.delays.count {
                delay = Self.delays[state.failures]
                state.failures += 1
            }
            return (mustStart, delay, state.generation, hasChanged ? state.onChange : nil)
        }
        handler?()
        if mustStart { start() }
        if let delay { scheduleRetry(of: generation, after: delay) }
    }

    private func scheduleRetry(of generation: Int, after seconds: Int) {
        #if os(Linux)
            // The lookup may have failed for lack of file descriptors, which Dispatch timers also need.
            try? Thread.start(after: seconds) { [weak self] in self?.retry(generation) }
        #else
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
                self?.retry(generation)
            }
        #endif
    }

    private func retry(_ generation: Int) {
        let mustStart = state.withLock { state in
            guard state.generation == generation, !state.isRunning, state.onChange != nil else { return false }
            state.isRunning = true
            return true
        }
        if mustStart { start() }
    }

    private static func lookUp(_ name: String) -> [IPAddress] {
        // getaddrinfo stops at a zero byte.
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
