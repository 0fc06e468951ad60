/// Monitors the network path to the internet, to a host or to an address.
///
/// ```swift
/// for await path in NetworkMonitor.shared.paths {
///     print(path.isOnline ? "online" : "offline", path)
/// }
/// ```
///
/// A monitor only works while ``paths`` has a consumer. It is event-driven, uses no timer while nothing changes, and
/// sends no packets. A path describes this machine's side of the network. Use it to choose when to retry or to explain
/// a failure, but never to decide whether to send a request.
///
/// All members can be used from any thread.
public final class NetworkMonitor: Sendable {
    /// A monitor for the path to the internet.
    public static let shared = NetworkMonitor()

    /// The destination whose path is monitored.
    public var target: Target { watched.target }

    typealias Handler = @Sendable (NetworkPath) -> Void

    private struct State {
        var source: PathSource?
        /// Identifies the current source, so that paths of earlier sources are discarded.
        var run = 0
        /// The last path of the current source.
        var latest: NetworkPath?
        var handlers: [Int: Handler] = [:]
        var nextNumber = 0
    }

    private let state = Locked(State())
    private let watched: PathTarget
    private let debounce: Duration
    private let receiveBuffer: Int32?

    /// Creates a monitor. It starts when ``paths`` is first accessed.
    ///
    /// - Parameters:
    ///   - target: The destination whose path to monitor.
    ///   - debounce: The delay between the first of several changes and the path that reports them together. The
    ///     default is 100 ms and the maximum is one hour.
    public convenience init(target: Target = .internet, debounce: Duration = .milliseconds(100)) {
        self.init(target: target, debounce: debounce, receiveBuffer: nil)
    }

    /// Creates a monitor whose socket has a receive buffer of the given size in bytes.
    package init(target: Target, debounce: Duration, receiveBuffer: Int32?) {
        watched = PathTarget(target)
        self.debounce = min(max(debounce, .zero), .seconds(3600))
        self.receiveBuffer = receiveBuffer
    }

    deinit { state.withLock { $0.source }?.stop() }

    /// The current path.
    ///
    /// A running monitor returns its last path. Otherwise, the path is computed in about a millisecond, without
    /// blocking.
    public var currentPath: NetworkPath {
        state.withLock { $0.latest } ?? watched.currentPath()
    }

    /// A stream that begins with the current path and then delivers each path that differs from the previous one.
    ///
    /// Each access creates an independent stream for a single consumer. A slow consumer receives the newest path and
    /// misses earlier ones. The stream never finishes. The stream retains the monitor until the stream is released or
    /// its task is canceled. The monitor stops when its last stream ends.
    public var paths: AsyncStream<NetworkPath> {
        let stream = AsyncStream<NetworkPath>(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = observe { continuation.yield($0) }
            continuation.onTermination = { _ in self.stopObserving(number) }
        }
        let paths = DistinctPaths(stream)
        return AsyncStream { await paths.next() }
    }

    /// Registers a handler for the current path and for each path that differs from the previous one, in order.
    ///
    /// The handler runs while a lock is held and must not call the monitor.
    ///
    /// - Returns: A number for ``stopObserving(_:)``.
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

    /// Removes a handler that ``observe(_:)`` registered.
    func stopObserving(_ number: Int) {
        let handler = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: number)
            guard state.handlers.isEmpty else { return handler }
            state.source?.stop()
            state.source = nil
            state.latest = nil
            return handler
        }
        // Release the handler outside the lock, because its captures can call this monitor.
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

extension NetworkMonitor {
    /// A destination to monitor.
    public enum Target: Sendable, Hashable {
        /// The internet: a default route for IPv4 or IPv6.
        case internet
        /// A host name or address. A name is resolved when the monitor starts and again when the network changes.
        case host(String)
        /// An address. This machine's own addresses are always reachable.
        case address(IPAddress)

        /// The target's address, if it is known without a lookup: for an address target, for `localhost` (RFC 6761, section
        /// 6.3), and for a host that is written as an address, with or without brackets.
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

        /// The name to resolve, if any.
        var name: String? {
            if case .host(let name) = self, address == nil { name } else { nil }
        }
    }
}

/// A target and the addresses that its name resolved to.
final class PathTarget: Sendable {
    let target: NetworkMonitor.Target
    /// The resolver for the target's name, or `nil` if it needs no lookup.
    let resolver: HostResolver?

    init(_ target: NetworkMonitor.Target) {
        self.target = target
        resolver = target.name.map { HostResolver(name: $0) }
    }

    /// The addresses to find paths to. Until the name is resolved, the destination is the internet.
    var destinations: [Destination] {
        if let address = target.address { return [.address(address)] }
        let addresses = resolver?.addresses ?? []
        return addresses.isEmpty ? Destination.internet : addresses.map { .address($0) }
    }

    /// Returns the path to destinations that ``destinations`` returned earlier.
    func path(to destinations: [Destination], in table: NetworkTable) -> NetworkPath {
        let path = table.path(to: destinations)
        guard let name = target.name, destinations == Destination.internet else { return path }
        // Before the first lookup, the path is unknown, because the name could refer to this machine. On a working network, a
        // failed lookup is a problem of the name or of the name server.
        guard resolver?.addresses != [] || path.status == .satisfied else { return path }
        return NetworkPath(
            status: .unknown(.nameNotResolved(name)), interfaces: path.interfaces, routes: path.routes,
            supportsIPv4: path.supportsIPv4, supportsIPv6: path.supportsIPv6
        )
    }
}

/// Removes each path that equals the previous path that this consumer received. A slow consumer receives only the newest path.
/// If the path has changed and changed back in the meantime, the newest path equals the previous one.
final class DistinctPaths: @unchecked Sendable {
    // Sendable because a stream has a single consumer, which takes one path at a time.
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
