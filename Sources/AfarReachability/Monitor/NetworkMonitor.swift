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
