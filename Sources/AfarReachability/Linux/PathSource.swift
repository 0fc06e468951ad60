#if os(Linux)
    import CNetlink
    import Dispatch
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Reports the paths to a target between ``start()`` and ``stop()``. Computes them from the kernel's tables. Each instance
    /// runs only once.
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

        /// Starts watching and returns the first path.
        func start() -> NetworkPath {
            do throws(ReachabilityError) {
                return try begin()
            } catch {
                return path(after: error)
            }
        }

        /// Stops watching. A path that is being delivered at that moment can still arrive.
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

        /// Returns the path to report when watching couldn't start, and schedules a retry if the error is temporary.
        private func path(after error: ReachabilityError) -> NetworkPath {
            if error.isTemporary { scheduleRetry(after: error) }
            return NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber)))
        }

        private func scheduleRetry(after error: ReachabilityError) {
            let delay = Int(ReachabilityError.retryDelay.components.seconds)
            guard error.isLackingDescriptors else {
                DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(delay)) { [weak self] in
                    self?.retry()
                }
                return
            }
            try? Thread.start(after: delay) { [weak self] in self?.retry() }
        }

        private func retry() {
            do throws(ReachabilityError) {
                _ = try begin()
                // From now on, only the watch's thread delivers paths, so they stay in order.
                state.withLock { $0.watch?.readAgain() }
            } catch {
                deliver(path(after: error))
            }
        }
    }

    extension PathTarget {
        /// The maximum age of resolved addresses before they are looked up again.
        private static let age = Duration.seconds(5)

        /// Returns the current path. If the target is a host name whose addresses are out of date, starts a lookup for
        /// the next call.
        func currentPath() -> NetworkPath {
            let destinations = destinations
            resolver?.refresh(after: Self.age)
            do {
                return path(to: destinations, in: try KernelReader().table(for: destinations))
            } catch {
                return NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber)))
            }
        }
    }

    /// A thread that sleeps until the kernel reports a change, and then reads the kernel's tables.
    final class KernelWatch: @unchecked Sendable {
        // Sendable because only the thread accesses the mutable state after the start.

        /// The delay before the tables are read again if they kept changing during a read or if the event socket failed.
        private static let retryDelay = Duration.seconds(1)

        private let target: PathTarget
        private let debounce: Duration
        private let deliver: NetworkMonitor.Handler
        private let reader = KernelReader()
        private let events: KernelEvents
        private let wakeup: Wakeup
        private let isStopped = Locked(false)

        private var destinations: [Destination] = []
        private var table: NetworkTable?
        /// The time of the next read, or `nil` if none is scheduled.
        private var due: ContinuousClock.Instant?
        /// The CPU time of the last read.
        private var lastCost = Duration.zero

        init(
            target: PathTarget, debounce: Duration, receiveBuffer: Int32?, deliver: @escaping NetworkMonitor.Handler
        ) throws(ReachabilityError) {
            self.target = target
            self.debounce = debounce
            self.deliver = deliver
            // Subscribe before the first read so that no change is missed.
            events = try KernelEvents(receiveBuffer: receiveBuffer)
            wakeup = try Wakeup()
        }

        /// Reads the tables for the first time and starts the thread.
        func start() throws(ReachabilityError) -> NetworkPath {
            // Register first so that no address is missed.
            target.resolver?.onChange { [wakeup] in wakeup.signal() }
            do throws(ReachabilityError) {
                let path = try readTable()
                try Thread.start(name: "afar-network") { self.run() }
                target.resolver?.refresh()
                return path
            } catch {
                target.resolver?.onChange(nil)
                throw error
            }
        }

        /// Makes the thread read the tables and deliver the resulting path.
        func readAgain() { wakeup.signal() }

        /// Stops the thread, which then closes its sockets.
        func stop() {
            isStopped.withLock { $0 = true }
            target.resolver?.onChange(nil)
            wakeup.signal()
        }

        private func run() {
            while !isStopped.withLock({ $0 }) {
                waitForEvents()
                guard !isStopped.withLock({ $0 }) else { return }
                if let due, due <= .now { report() }
            }
        }

        /// Sleeps until a read is due or an event arrives. While a read is scheduled, events stay in the socket.
        private func waitForEvents() {
            var entries = [
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: events.socket.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = nfds_t(due == nil ? 2 : 1)
            guard poll(&entries, count, milliseconds(until: due)) > 0 else { return }
            if entries[0].revents != 0 {
                wakeup.clear()
                due = .now
            }
            if entries[1].revents != 0 { handleEvents() }
        }

        /// Schedules a read if the kernel reported a relevant change.
        private func handleEvents() {
            switch events.readEvents(for: destinations) {
            case .nothing: break
            case .change: schedule(after: max(debounce, pause))
            case .failure: schedule(after: max(debounce, Self.retryDelay))
            }
        }

        private func report() {
            due = nil
            let (before, destinationsBefore) = (table, destinations)
            do throws(ReachabilityError) {
                let path = try readSettledTable()
                // New destinations also change the table. Don't look up the name after such a change: if a name server varied
                // its responses, lookups would never end.
                if destinations == destinationsBefore, table != before { target.resolver?.refresh() }
                deliver(path)
            } catch {
                deliver(NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber))))
                // Other errors last until the kernel reports a change.
                if error.isTemporary { schedule(after: ReachabilityError.retryDelay) }
            }
        }

        /// Repeats reading until the tables don't change during a read, so that no inconsistent path is delivered. If
        /// the tables keep changing, returns the path of the last read and schedules another read.
        private func readSettledTable() throws(ReachabilityError) -> NetworkPath {
            // The read below covers all earlier events.
            _ = events.readEvents(for: destinations)
            for _ in 1..<KernelReader.attempts {
                let path = try readTable()
                if case .nothing = events.readEvents(for: destinations) { return path }
            }
            defer { schedule(after: max(debounce, pause)) }
            return try readTable()
        }

        private func readTable() throws(ReachabilityError) -> NetworkPath {
            let start = Thread.time
            destinations = target.destinations
            let table = try reader.table(for: destinations)
            lastCost = Thread.time - start
            self.table = table
            if !table.isSettled { schedule(after: max(Self.retryDelay, pause)) }
            return target.path(to: destinations, in: table)
        }

        /// The pause before the next read. It limits the CPU time on machines with expensive reads and constant
        /// changes, such as routers with many routes.
        private var pause: Duration { min(lastCost * 10, .seconds(5)) }

        private func schedule(after delay: Duration) {
            let instant = ContinuousClock.now + delay
            due = due.map { min($0, instant) } ?? instant
        }

        /// Returns the timeout for `poll`, rounded up so that `poll` doesn't return too early. Without a scheduled read, `poll`
        /// waits indefinitely.
        private func milliseconds(until due: ContinuousClock.Instant?) -> Int32 {
            guard let due else { return -1 }
            let rest = due - .now
            guard rest > .zero else { return 0 }
            return Int32(clamping: Int64((rest / .milliseconds(1)).rounded(.up)))
        }
    }

    /// Receives the kernel's change notifications.
    ///
    /// The notifications only indicate that something changed. The kernel doesn't report routes that it removes together with
    /// their link or address, and messages can be lost. After each notification, the tables are therefore read again.
    struct KernelEvents {
        let socket: NetlinkSocket

        private static let groups: [rtnetlink_groups] = [
            RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
            RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
        ]

        /// Subscribes to the notifications.
        init(receiveBuffer: Int32? = nil) throws(ReachabilityError) {
            let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1.rawValue - 1) }
            socket = try NetlinkSocket(protocol: NETLINK_ROUTE, groups: mask, receiveBuffer: receiveBuffer)
        }

        init(socket: NetlinkSocket) { self.socket = socket }

        /// The result of reading the pending notifications.
        enum EventResult {
            case nothing
            case change
            /// The socket failed.
            case failure
        }

        /// Reads all pending messages.
        func readEvents(for destinations: [Destination]) -> EventResult {
            var hasChanged = false
            // Messages can arrive as fast as they are read. The next call reads the rest.
            for _ in 0..<10_000 {
                do {
                    let hasReceived = try socket.receive { datagram in
                        for message in NetlinkMessages(datagram) where !hasChanged {
                            hasChanged = Self.isRelevant(message, for: destinations)
                        }
                    }
                    if !hasReceived { break }
                } catch {
                    guard error.errorNumber == ENOBUFS else { return .failure }
                    hasChanged = true
                }
            }
            return hasChanged ? .change : .nothing
        }

        /// Returns whether a message can affect the paths to the destinations. A router's tables change constantly, but most
        /// changes don't affect the paths.
        static func isRelevant(_ message: NetlinkMessage, for destinations: [Destination]) -> Bool {
            guard Int(message.type) == RTM_NEWROUTE || Int(message.type) == RTM_DELROUTE else { return true }
            guard let route = TableRoute(message.payload) else { return false }
            return route.concerns(destinations)
        }
    }
#endif
