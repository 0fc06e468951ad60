#if canImport(Network)
    import Dispatch
    import Network

    /// Tells paths as the system's own monitor sees them, from ``start()`` to ``stop()``. For one run only.
    ///
    /// The system judges the way to the internet only, so that stands for any target but this machine itself.
    final class PathSource: Sendable {
        typealias Handler = NetworkMonitor.Handler

        private struct State {
            var pending: NetworkPath?
            var isStopped = false
        }

        private let target: PathTarget
        private let debounce: Duration
        private let deliver: Handler
        private let monitor = NWPathMonitor()
        private let queue = DispatchQueue(label: "afar-network")
        private let state = Locked(State())

        init(target: PathTarget, debounce: Duration, receiveBuffer: Int32?, deliver: @escaping Handler) {
            self.target = target
            self.debounce = debounce
            self.deliver = deliver
        }

        /// Begins, and returns the first path.
        func start() -> NetworkPath {
            if let path = target.pathToThisMachine { return path }
            monitor.pathUpdateHandler = { [weak self] path in self?.schedule(NetworkPath(path)) }
            monitor.start(queue: queue)
            return NetworkPath(monitor.currentPath)
        }

        /// Ends. What is being delivered at this moment may still arrive.
        func stop() {
            state.withLock { $0.isStopped = true }
            monitor.cancel()
        }

        private func schedule(_ path: NetworkPath) {
            let isFirst = state.withLock { state in
                defer { state.pending = path }
                return state.pending == nil
            }
            guard isFirst else { return }
            let delay = DispatchTimeInterval.nanoseconds(Int(debounce / .nanoseconds(1)))
            queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.deliverPending() }
        }

        private func deliverPending() {
            let path: NetworkPath? = state.withLock { state in
                defer { state.pending = nil }
                return state.isStopped ? nil : state.pending
            }
            if let path { deliver(path) }
        }
    }

    extension PathTarget {
        /// The path at this moment.
        func currentPath() -> NetworkPath {
            pathToThisMachine ?? NetworkPath(NWPathMonitor().currentPath)
        }

        /// The path when the target is this machine itself.
        fileprivate var pathToThisMachine: NetworkPath? {
            guard let address = target.address, address.isThisMachine else { return nil }
            return NetworkPath(
                status: .satisfied, supportsIPv4: address.family == .ipv4, supportsIPv6: address.family == .ipv6)
        }
    }
#endif
