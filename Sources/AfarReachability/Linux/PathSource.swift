#if os(Linux)
    import CNetlink
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

        /// How long to wait before a new try, when the system had too few descriptors or too little memory.
        private static let retryDelay: UInt32 = 5

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
                return try state.withLock { state throws(ReachabilityError) in
                    guard !state.isStopped else { throw ReachabilityError("watch", ECANCELED) }
                    let watch = try KernelWatch(
                        target: target, debounce: debounce, receiveBuffer: receiveBuffer, deliver: deliver)
                    let path = try watch.start()
                    state.watch = watch
                    return path
                }
            } catch {
                if error.isPassing { tryAgain() }
                return NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber)))
            }
        }

        /// Ends. What is being delivered at this moment may still arrive.
        func stop() {
            state.withLock { state in
                state.isStopped = true
                state.watch?.stop()
            }
        }

        private func tryAgain() {
            // A thread that sleeps needs no descriptor, other than a timer.
            try? Thread.start(name: "afar-retry") { [weak self] in
                sleep(Self.retryDelay)
                if let self { self.deliver(self.start()) }
            }
        }

    }

    extension ReachabilityError {
        /// Whether it may go away by itself, other than a prohibition.
        var isPassing: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, ETIMEDOUT].contains(errorNumber) }
    }
#endif
