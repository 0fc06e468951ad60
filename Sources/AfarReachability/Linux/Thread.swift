#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Creates detached threads.
    enum Thread {
        private final class Body: Sendable {
            let run: @Sendable () -> Void

            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }

        /// The CPU time that the calling thread has used.
        static var time: Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }

        private static let stackSize = 512 << 10

        /// Runs a closure on a new thread after a delay. A Dispatch timer needs a file descriptor, and Dispatch
        /// terminates the process if none is available. This method needs no file descriptor.
        static func start(after seconds: Int, _ run: @escaping @Sendable () -> Void) throws(ReachabilityError) {
            try start(name: "afar-retry") {
                sleep(UInt32(seconds))
                run()
            }
        }

        /// Runs a closure on a new thread that blocks all signals, because signal handlers expect to run on other
        /// threads.
        static func start(name: String, _ run: @escaping @Sendable () -> Void) throws(ReachabilityError) {
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
            pthread_attr_setstacksize(&attributes, stackSize)

            var all = sigset_t()
            var before = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

            let body = Unmanaged.passRetained(
                Body {
                    afar_name_thread(name)
                    run()
                })
            let failure = afar_start_thread(
                &attributes,
                { argument in
                    if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                    return nil
                }, body.toOpaque())
            guard failure == 0 else {
                body.release()
                throw ReachabilityError("start a thread", failure)
            }
        }
    }

    /// Wakes a thread that waits in `poll`.
    final class Wakeup: Sendable {
        let descriptor: Int32

        init() throws(ReachabilityError) {
            descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            guard descriptor >= 0 else { throw ReachabilityError("create an event descriptor") }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// Wakes the thread, or prevents its next wait from blocking.
        func signal() {
            var one: UInt64 = 1
            // The write fails only if the counter is full. A full counter also wakes the thread.
            _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
        }

        /// Discards earlier signals.
        func clear() {
            var count: UInt64 = 0
            _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        }
    }
#endif
