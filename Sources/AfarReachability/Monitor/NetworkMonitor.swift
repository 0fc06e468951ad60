/// Watches the way to the internet, to a host or to an address.
///
/// ```swift
/// for await path in NetworkMonitor.shared.paths {
///     print(path.isOnline ? "online" : "offline", path)
/// }
/// ```
///
/// A monitor works while somebody reads its ``paths``, and costs nothing otherwise. While nothing changes it sleeps: there
/// is no timer. It sends nothing. What it says is what the system knows about the way out of this machine, so use it to
/// try again at the right moment, or to explain a failure, never to keep from trying.
///
/// All members may be used from any thread.
public final class NetworkMonitor: Sendable {
    /// The way to the internet.
    public static let shared = NetworkMonitor()

    /// What the monitor watches the way to.
    public var target: Target { watched.target }

    typealias Handler = @Sendable (NetworkPath) -> Void

    private struct State {
        var source: PathSource?
        /// Counts the sources, so that what an old one still tells is known.
        var run = 0
        /// The last path of the source that runs.
        var latest: NetworkPath?
        var handlers: [Int: Handler] = [:]
        var nextNumber = 0
    }

    private let state = Locked(State())
    private let watched: PathTarget
    private let debounce: Duration
    private let receiveBuffer: Int32?

    /// Makes a monitor that is not at work yet.
    ///
    /// - Parameters:
    ///   - target: What to watch the way to.
    ///   - debounce: How long a change is held back, so that changes that come together are reported together. A path
    ///     is told this long after the first of them, an hour at most.
    public convenience init(target: Target = .internet, debounce: Duration = .milliseconds(100)) {
        self.init(target: target, debounce: debounce, receiveBuffer: nil)
    }

    /// Makes a monitor whose socket has room for so many bytes only.
    package init(target: Target, debounce: Duration, receiveBuffer: Int32?) {
        watched = PathTarget(target)
        self.debounce = min(max(debounce, .zero), .seconds(3600))
        self.receiveBuffer = receiveBuffer
    }

    deinit { state.withLock { $0.source }?.stop() }

    /// The path at this moment: the last one that was told while the monitor is at work, otherwise read anew, which takes
    /// less than a millisecond or so and waits for nothing.
    public var currentPath: NetworkPath {
        state.withLock { $0.latest } ?? watched.currentPath()
    }

    /// The paths from now on: the present one first, then each that differs from the one before it.
    ///
    /// Every access makes a stream of its own, for one consumer. Who is slow gets the newest path, and misses those in
    /// between. The stream never ends by itself, keeps the monitor alive, and lets go of it when it is dropped or its task
    /// is cancelled; with the last one the monitor stops.
    public var paths: AsyncStream<NetworkPath> {
        let stream = AsyncStream<NetworkPath>(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = observe { continuation.yield($0) }
            continuation.onTermination = { _ in self.stopObserving(number) }
        }
        let paths = DistinctPaths(stream)
        return AsyncStream { await paths.next() }
    }

    /// Has a handler called with the present path, and then with each that differs from the one before it, in order. It is
    /// called with a lock held, and must not call the monitor.
    func observe(_ handler: @escaping Handler) -> Int {
        state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            state.handlers[number] = handler
            if state.source == nil {
                state.run += 1
                let run = state.run
                let source = PathSource(target: watched, debounce: debounce, receiveBuffer: receiveBuffer) {
                    [weak self] path in
                    self?.deliver(path, of: run)
                }
                state.source = source
                state.latest = source.start()
            }
            if let path = state.latest { handler(path) }
            return number
        }
    }

    /// Ends what ``observe(_:)`` began.
    func stopObserving(_ number: Int) {
        let handler = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: number)
            guard state.handlers.isEmpty else { return handler }
            state.source?.stop()
            state.source = nil
            state.latest = nil
            return handler
        }
        // What the handler owns may call this monitor when it is let go of, so that happens without the lock.
        withExtendedLifetime(handler) {}
    }

    private func deliver(_ path: NetworkPath, of run: Int) {
        state.withLock { state in
            guard state.source != nil, state.run == run, path != state.latest else { return }
            state.latest = path
            for handler in state.handlers.values { handler(path) }
        }
    }
}

// MARK: - Targets

extension NetworkMonitor {
    /// What a monitor watches the way to.
    public enum Target: Sendable, Hashable {
        /// The internet: a default route, of IPv4 or IPv6.
        case internet
        /// A host, by name or address. The name is looked up when the monitor begins, and again when the network changes.
        case host(String)
        /// An address. This machine's own are always reached.
        case address(IPAddress)

        /// The address that the target is, if it is one: also when a host is written as an address, in brackets or not, and
        /// for `localhost` (RFC 6761, section 6.3).
        var address: IPAddress? {
            switch self {
            case .internet:
                return nil
            case .address(let address):
                return address.unmapped
            case .host(let name):
                let host = name.lowercased()
                if host == "localhost" || host.hasSuffix(".localhost") { return IPAddress("127.0.0.1") }
                let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
                return IPAddress(isBracketed ? String(name.dropFirst().dropLast()) : name)?.unmapped
            }
        }

        /// The name that has to be looked up.
        var name: String? {
            if case .host(let name) = self, address == nil { name } else { nil }
        }
    }
}

/// A target with the addresses that its name has by now.
final class PathTarget: Sendable {
    let target: NetworkMonitor.Target
    /// Looks up the name; nil where there is none.
    let resolver: HostResolver?

    init(_ target: NetworkMonitor.Target) {
        self.target = target
        resolver = target.name.map { HostResolver(name: $0) }
    }

    /// Where packets are to go. As long as a name has no address, the internet stands for it.
    var destinations: [Destination] {
        if let address = target.address { return [.address(address)] }
        let addresses = resolver?.addresses ?? []
        return addresses.isEmpty ? Destination.internet : addresses.map { .address($0) }
    }

    /// The path to destinations that were taken from here.
    func path(to destinations: [Destination], in table: NetworkTable) -> NetworkPath {
        let path = table.path(to: destinations)
        guard let name = target.name, destinations == Destination.internet else { return path }
        // Before the name was looked up nothing is known: it may be this machine's own. Afterwards, when the network is there,
        // that a name server is silent or does not know the name is not the network's fault.
        guard resolver?.addresses != [] || path.status == .satisfied else { return path }
        return NetworkPath(
            status: .unknown(.nameNotResolved(name)), interfaces: path.interfaces, routes: path.routes,
            supportsIPv4: path.supportsIPv4, supportsIPv6: path.supportsIPv6
        )
    }
}

// MARK: - Streams of paths

/// Leaves out paths that equal the one before, as this consumer sees it: between two that it takes, others may have been
/// replaced by newer ones.
final class DistinctPaths: @unchecked Sendable {
    // Sendable because a stream has one consumer, which takes one path at a time.
    private var iterator: AsyncStream<NetworkPath>.Iterator
    private var last: NetworkPath?

    init(_ stream: AsyncStream<NetworkPath>) { iterator = stream.makeAsyncIterator() }

    func next() async -> NetworkPath? {
        while let path = await iterator.next() {
            if path == last { continue }
            last = path
            return path
        }
        return nil
    }
}
