#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Reads the kernel's tables with requests of its own. What is not about the destinations is left out, so that a router
    /// with a million routes costs no memory here.
    struct KernelReader {
        /// How often a table that changes while it is read is read anew, before it is taken as it is.
        static let attempts = 5

        /// Opens a socket for a protocol.
        var connect: (Int32) throws(ReachabilityError) -> NetlinkSocket = { number throws(ReachabilityError) in
            try NetlinkSocket(protocol: number)
        }
        var wirelessFamily = WirelessFamily.shared

        /// Reads everything, or what concerns some destinations.
        func table(for destinations: [Destination]? = nil) throws(ReachabilityError) -> NetworkTable {
            let socket = try connect(NETLINK_ROUTE)
            var table = NetworkTable()
            table.userID = geteuid()
            try readLinks(into: &table, from: socket)
            table.addresses = try read(.addresses, from: socket, isSettled: &table.isSettled) { message in
                NetworkTable.LinkAddress(message.payload)
            }
            table.routes = try read(.routes, from: socket, isSettled: &table.isSettled) { message in
                guard TableRoute.isOrdinary(message.payload) else { return nil }
                return TableRoute(message.payload).flatMap { $0.concerns(destinations) ? $0 : nil }
            }
            try readRules(into: &table, from: socket)
            for destination in destinations ?? [] where table.needsAnswer(for: destination) {
                table.answers[destination.sample] = answer(for: destination.sample, from: socket)
            }
            return table
        }

        private func readLinks(into table: inout NetworkTable, from socket: NetlinkSocket) throws(ReachabilityError) {
            let links = try read(.links, from: socket, isSettled: &table.isSettled) { message in
                NetworkTable.Link(message.payload)
            }
            table.links = Dictionary(links.map { ($0.index, $0) }) { _, last in last }
            // Wireless interfaces look like any other Ethernet.
            let candidates = links.filter { $0.type == HardwareType.ethernet && $0.maker == nil }
            guard !candidates.isEmpty else { return }
            let wireless = WirelessInterfaces(connect: connect, family: wirelessFamily)
            for index in try wireless.indices(among: candidates) {
                table.links[index]?.isWireless = true
            }
        }

        /// Reads the rules. A kernel without those of a family goes by what every kernel begins with.
        private func readRules(into table: inout NetworkTable, from socket: NetlinkSocket) throws(ReachabilityError) {
            var rules: [RoutingRule] = []
            for family in IPAddress.Family.allCases {
                do {
                    rules += try read(.rules(family), from: socket, isSettled: &table.isSettled) { message in
                        RoutingRule(message.payload).flatMap { $0.family == family ? $0 : nil }
                    }
                } catch {
                    guard error.errorNumber == EOPNOTSUPP || error.errorNumber == EAFNOSUPPORT else { throw error }
                    rules += RoutingRule.defaults.filter { $0.family == family }
                }
            }
            table.rules = rules.stablySorted { $0.priority < $1.priority }
        }

        private func read<Value>(
            _ request: NetlinkRequest, from socket: NetlinkSocket, isSettled: inout Bool,
            _ decode: (NetlinkMessage) -> Value?
        ) throws(ReachabilityError) -> [Value] {
            var values: [Value] = []
            for _ in 1...Self.attempts {
                values = []
                if try socket.ask(request, { message in decode(message).map { values.append($0) } }) { return values }
            }
            isSettled = false
            return values
        }

        private func answer(for address: IPAddress, from socket: NetlinkSocket) -> NetworkTable.KernelAnswer {
            var route: TableRoute?
            do {
                _ = try socket.ask(.route(to: address), isDump: false) { route = TableRoute($0.payload) }
            } catch {
                return .refused(error.errorNumber)
            }
            return route.map { .route($0) } ?? .refused(ENETUNREACH)
        }
    }

    extension TableRoute {
        /// Whether the route may be the way to one of the destinations; nil stands for all.
        func concerns(_ destinations: [Destination]?) -> Bool {
            guard let destinations else { return true }
            return destinations.contains { $0.isCovered(by: destination, length: prefixLength) }
        }
    }
#endif
