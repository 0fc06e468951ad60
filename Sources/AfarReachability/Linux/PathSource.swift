#if os(Linux)
    import CNetlink
    import Dispatch
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Tells paths to a target as the kernel sees them, from ``start()`` to ``stop()``. For one run only.
    final class PathSource: Sendable {
        typealias Handler = NetworkMonitor.Handler

        private struct State {
            var watch: KernelWatch?
            var isStopped = false
        }

        private let target: PathTarget
        private let debounce: Duration
        private let receiveBuffer: Int32?
        private let deliver: Handler
        private let state = Locked(State())

        init(
            target: PathTarget, debounce: Duration, receiveBuffer: Int32? = nil, deliver: @escaping Handler
        ) {
            self.target = target
            self.debounce = debounce
            self.receiveBuffer = receiveBuffer
            self.deliver = deliver
        }

        /// Begins, and returns the first path.
        func start() -> NetworkPath {
            do throws(ReachabilityError) {
                return try begin()
            } catch {
                return path(after: error)
            }
        }

        /// Ends. What is being delivered at this moment may still arrive.
        func stop() {
            state.withLock { state in
                state.isStopped = true
                state.watch?.stop()
            }
        }

        private func begin() throws(ReachabilityError) -> NetworkPath {
            try state.withLock { state throws(ReachabilityError) in
                guard !state.isStopped else { throw ReachabilityError("watch", ECANCELED) }
                let watch = try KernelWatch(
                    target: target, debounce: debounce, receiveBuffer: receiveBuffer, deliver: deliver)
                let path = try watch.start()
                state.watch = watch
                return path
            }
        }

        /// What is known when the beginning failed. Tries again later if that may help.
        private func path(after error: ReachabilityError) -> NetworkPath {
            if error.isPassing { tryAgain(after: error) }
            return NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber)))
        }

        private func tryAgain(after error: ReachabilityError) {
            let delay = Int(ReachabilityError.retryDelay.components.seconds)
            guard error.isLackOfDescriptors else {
                DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(delay)) { [weak self] in
                    self?.beginLater()
                }
                return
            }
            try? Thread.start(after: delay) { [weak self] in self?.beginLater() }
        }

        private func beginLater() {
            do throws(ReachabilityError) {
                _ = try begin()
                // From now on only the watch's thread delivers, so that an older path never comes after a newer one.
                state.withLock { $0.watch?.readAgain() }
            } catch {
                deliver(path(after: error))
            }
        }
    }
#endif
