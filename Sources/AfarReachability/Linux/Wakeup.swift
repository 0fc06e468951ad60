#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Wakes a thread that waits in `poll`.
    final class Wakeup: Sendable {
        let descriptor: Int32

        init() throws(ReachabilityError) {
            descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
            guard descriptor >= 0 else { throw ReachabilityError("make an event descriptor") }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// Wakes the thread, now or when it will wait.
        func signal() {
            var one: UInt64 = 1
            // Fails only when the counter is full, and then the thread wakes anyway.
            _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
        }

        /// Forgets earlier signals.
        func clear() {
            var count: UInt64 = 0
            _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        }
    }
#endif
