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

    extension PathTarget {
        /// How old what is known of a name may be.
        private static let age = Duration.seconds(5)

        /// The path at this moment. A name is looked up for the next time, if that was not done lately.
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

    // MARK: - Watching the kernel

    /// A thread that sleeps until the kernel reports a change, and then reads its tables.
    final class KernelWatch: @unchecked Sendable {
        // Sendable because what changes belongs to the thread, from the moment it runs.

        /// How long to wait before the tables are read again, when they changed all the time, or listening failed.
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
        /// When to read the tables; nil when there is no reason to.
        private var due: ContinuousClock.Instant?
        /// How much of a processor's time it took to read the tables the last time.
        private var lastCost = Duration.zero

        init(
            target: PathTarget, debounce: Duration, receiveBuffer: Int32?, deliver: @escaping NetworkMonitor.Handler
        ) throws(ReachabilityError) {
            self.target = target
            self.debounce = debounce
            self.deliver = deliver
            // Listening comes first, so that no change between the first reading and the next is missed.
            events = try KernelEvents(receiveBuffer: receiveBuffer)
            wakeup = try Wakeup()
        }

        /// Reads the tables for the first time, and starts the thread.
        func start() throws(ReachabilityError) -> NetworkPath {
            // First of all, so that an address that is found meanwhile is not missed.
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

        /// Has the thread read the tables, and deliver what they say.
        func readAgain() { wakeup.signal() }

        /// Ends the thread, which closes its sockets.
        func stop() {
            isStopped.withLock { $0 = true }
            target.resolver?.onChange(nil)
            wakeup.signal()
        }

        private func run() {
            while !isStopped.withLock({ $0 }) {
                waitForNews()
                guard !isStopped.withLock({ $0 }) else { return }
                if let due, due <= .now { report() }
            }
        }

        /// Sleeps until something is to be done. While a reading is due anyway, news are left where they are.
        private func waitForNews() {
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
            if entries[1].revents != 0 { hear() }
        }

        /// Takes in what the kernel tells.
        private func hear() {
            switch events.news(for: destinations) {
            case .nothing: break
            case .change: schedule(after: max(debounce, rest))
            case .failure: schedule(after: max(debounce, Self.retryDelay))
            }
        }

        private func report() {
            due = nil
            let (before, destinationsBefore) = (table, destinations)
            do throws(ReachabilityError) {
                let path = try readSettledTable()
                // Other destinations make another table too. To look them up again then would never end where a name server
                // answers differently each time.
                if destinations == destinationsBefore, table != before { target.resolver?.refresh() }
                deliver(path)
            } catch {
                deliver(NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber))))
                // Otherwise only news from the kernel are worth another try.
                if error.isPassing { schedule(after: ReachabilityError.retryDelay) }
            }
        }

        /// Reads the tables until nothing changed meanwhile, so that no path is told that never was. When changes don't end,
        /// what was read last is told, and read again later.
        private func readSettledTable() throws(ReachabilityError) -> NetworkPath {
            // Older news is part of what is read now.
            _ = events.news(for: destinations)
            for _ in 1..<KernelReader.attempts {
                let path = try readTable()
                if case .nothing = events.news(for: destinations) { return path }
            }
            defer { schedule(after: max(debounce, rest)) }
            return try readTable()
        }

        private func readTable() throws(ReachabilityError) -> NetworkPath {
            let start = Thread.time
            destinations = target.destinations
            let table = try reader.table(for: destinations)
            lastCost = Thread.time - start
            self.table = table
            if !table.isSettled { schedule(after: max(Self.retryDelay, rest)) }
            return target.path(to: destinations, in: table)
        }

        /// How long to leave the tables alone. Where reading costs much, as on a router with many routes that always change, it
        /// must not be all that is ever done.
        private var rest: Duration { min(lastCost * 10, .seconds(5)) }

        private func schedule(after delay: Duration) {
            let instant = ContinuousClock.now + delay
            due = due.map { min($0, instant) } ?? instant
        }

        /// How long `poll` may sleep: for ever, unless something is due. Rounded up, so that it does not wake too early.
        private func milliseconds(until due: ContinuousClock.Instant?) -> Int32 {
            guard let due else { return -1 }
            let rest = due - .now
            guard rest > .zero else { return 0 }
            return Int32(clamping: Int64((rest / .milliseconds(1)).rounded(.up)))
        }
    }

    // MARK: - News from the kernel

    /// Hears from the kernel that something changed.
    ///
    /// The messages tell that much and no more: the kernel takes routes away with their link or their address without a
    /// word, and messages get lost. So what changed is always read anew.
    struct KernelEvents {
        let socket: NetlinkSocket

        private static let groups: [rtnetlink_groups] = [
            RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
            RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
        ]

        /// Begins to listen.
        init(receiveBuffer: Int32? = nil) throws(ReachabilityError) {
            let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1.rawValue - 1) }
            socket = try NetlinkSocket(protocol: NETLINK_ROUTE, groups: mask, receiveBuffer: receiveBuffer)
        }

        init(socket: NetlinkSocket) { self.socket = socket }

        /// What was heard.
        enum News {
            case nothing
            case change
            /// The socket does not work.
            case failure
        }

        /// Reads all messages that are there.
        func news(for destinations: [Destination]) -> News {
            var hasChanged = false
            // A flood may go on for as long as this reads. What is left over is read the next time.
            for _ in 0..<10_000 {
                do {
                    let isThere = try socket.receive { datagram in
                        for message in NetlinkMessages(datagram) where !hasChanged {
                            hasChanged = Self.mayMatter(message, for: destinations)
                        }
                    }
                    if !isThere { break }
                } catch {
                    guard error.errorNumber == ENOBUFS else { return .failure }
                    hasChanged = true
                }
            }
            return hasChanged ? .change : .nothing
        }

        /// Whether a message may be about the way to the destinations. A router's tables change all the time.
        static func mayMatter(_ message: NetlinkMessage, for destinations: [Destination]) -> Bool {
            guard Int(message.type) == RTM_NEWROUTE || Int(message.type) == RTM_DELROUTE else { return true }
            guard let route = TableRoute(message.payload) else { return false }
            return route.concerns(destinations)
        }
    }
#endif
