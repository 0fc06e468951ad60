#if os(Linux)
    import CEpoll
    import Foundation

    /// An epoll set, with an eventfd that lets other threads wake the waiting thread.
    package final class EpollSet: @unchecked Sendable {
        // Sendable because the descriptors never change. Other threads call only `wake`.

        private static let wakeTag = UInt64.max
        private let epoll: Int32
        private let eventfd: Int32
        private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 1024)

        package init() throws {
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            eventfd = epoll < 0 ? -1 : afar_eventfd()
            // The eventfd is edge-triggered, so you don't need to read its counter.
            guard eventfd >= 0, set(eventfd, EPOLL_CTL_ADD, EPOLLIN.rawValue | EPOLLET.rawValue, tag: Self.wakeTag)
            else {
                throw POSIXError(.init(rawValue: errno) ?? .EMFILE)
            }
        }

        deinit {
            if eventfd >= 0 { close(eventfd) }
            if epoll >= 0 { close(epoll) }
            events.deallocate()
        }

        /// Makes `wait` return. Can be called from any thread.
        package func wake() {
            var one: UInt64 = 1
            _ = write(eventfd, &one, MemoryLayout<UInt64>.size)
        }

        /// Waits for events.
        ///
        /// - Parameter deadline: When to stop waiting, in nanoseconds of ``MonotonicClock``. 0 means not to wait, and `UInt64.max`
        ///   means no limit.
        /// - Returns: The number of events. They are valid until the next call.
        package func wait(until deadline: UInt64) -> Int {
            var milliseconds: Int32 = deadline == .max ? -1 : 0
            if deadline != .max, deadline > 0 {
                let now = MonotonicClock.now
                if deadline > now { milliseconds = Int32(clamping: (deadline - now + 999_999) / 1_000_000) }
            }
            return max(0, Int(epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)))
        }

        /// Returns one of the events. The tag is nil if `wake` was called.
        package func event(_ index: Int) -> (tag: UInt64?, events: UInt32) {
            let event = events[index]
            let tag = withUnsafePointer(to: event, afar_epoll_tag)
            return (tag == Self.wakeTag ? nil : tag, event.events)
        }

        /// Changes a registration with an `EPOLL_CTL_…` operation. Returns false and sets `errno` if it fails.
        package func set(_ descriptor: Int32, _ operation: Int32, _ events: UInt32 = 0, tag: UInt64 = 0) -> Bool {
            afar_epoll_set(epoll, operation, descriptor, events, tag) == 0
        }
    }

    /// A thread that ends when its function returns. It can't be joined.
    package enum DetachedThread {
        private final class Start {
            let name: String
            let body: () -> Void

            init(_ name: String, _ body: @escaping () -> Void) { (self.name, self.body) = (name, body) }

            func run() {
                afar_name_thread(name)
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGPIPE)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                body()
            }
        }

        /// Starts a thread that blocks SIGPIPE: writing to a pipe without a reader then fails instead of ending the process.
        ///
        /// Foundation's `Thread` doesn't report failures to start, and doesn't pass its name to the system.
        ///
        /// - Parameters:
        ///   - name: The name for debuggers and `top`, of at most 15 bytes.
        ///   - body: The thread's function.
        /// - Throws: An error if the thread can't be started.
        package static func start(_ name: String, _ body: @escaping () -> Void) throws {
            let code = create(Start(name, body))
            guard code == 0 else { throw POSIXError(.init(rawValue: code) ?? .EAGAIN) }
        }

        private static func create(_ start: Start) -> Int32 {
            let context = Unmanaged.passRetained(start)
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { context in
                    if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run() }
                    return nil
                }, context.toOpaque())
            if code == 0 { pthread_detach(thread) } else { context.release() }
            return code
        }
    }
#endif
