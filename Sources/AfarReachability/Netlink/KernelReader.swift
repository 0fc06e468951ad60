#if os(Linux)
    import CNetlink
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Reads the kernel's tables with netlink requests. Routes that don't concern the destinations are skipped, so
    /// memory use stays low even on a router with a million routes.
    struct KernelReader {
        /// The maximum number of reads while the tables keep changing. The last result is used even if the tables have
        /// changed again.
        static let attempts = 5

        /// Opens a socket for a netlink protocol.
        var connect: (Int32) throws(ReachabilityError) -> NetlinkSocket = { number throws(ReachabilityError) in
            try NetlinkSocket(protocol: number)
        }
        var wirelessFamily = WirelessFamily.shared

        /// Reads the tables.
        ///
        /// - Parameter destinations: The destinations whose routes to include, or `nil` for all routes.
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
            for destination in destinations ?? [] where table.needsKernelLookup(for: destination) {
                table.kernelResponses[destination.sample] = kernelResponse(for: destination.sample, from: socket)
            }
            return table
        }

        private func readLinks(into table: inout NetworkTable, from socket: NetlinkSocket) throws(ReachabilityError) {
            let links = try read(.links, from: socket, isSettled: &table.isSettled) { message in
                NetworkTable.Link(message.payload)
            }
            table.links = Dictionary(links.map { ($0.index, $0) }) { _, last in last }
            // The link type of wireless interfaces is also Ethernet.
            let candidates = links.filter { $0.type == HardwareType.ethernet && $0.driverKind == nil }
            guard !candidates.isEmpty else { return }
            let wireless = WirelessInterfaces(connect: connect, family: wirelessFamily)
            for index in try wireless.indices(among: candidates) {
                table.links[index]?.isWireless = true
            }
        }

        /// Reads the rules. If the kernel has no rules for a family, the kernel's defaults apply.
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
                if try socket.request(request, { message in decode(message).map { values.append($0) } }) {
                    return values
                }
            }
            isSettled = false
            return values
        }

        private func kernelResponse(for address: IPAddress, from socket: NetlinkSocket) -> NetworkTable.KernelResponse {
            var route: TableRoute?
            do {
                _ = try socket.request(.route(to: address), isDump: false) { route = TableRoute($0.payload) }
            } catch {
                return .refused(error.errorNumber)
            }
            return route.map { .route($0) } ?? .refused(ENETUNREACH)
        }
    }

    extension TableRoute {
        /// Returns whether the route can lead to one of the destinations. Returns true if `destinations` is nil.
        func concerns(_ destinations: [Destination]?) -> Bool {
            guard let destinations else { return true }
            return destinations.contains { $0.isCovered(by: destination, length: prefixLength) }
        }
    }

    extension NetworkInterface {
        /// Returns all interfaces of the machine, including those that are down, in the order of their indices. Linux
        /// only.
        ///
        /// - Throws: ``ReachabilityError`` if the interfaces can't be read.
        public static func all() throws(ReachabilityError) -> [NetworkInterface] {
            let table = try KernelReader().table()
            return table.links.keys.sorted().compactMap(table.interface)
        }
    }

    extension NetworkRoute {
        /// Returns the routes of all routing tables, in the system's order. Linux only.
        ///
        /// - Throws: ``ReachabilityError`` if the routes can't be read.
        public static func all() throws(ReachabilityError) -> [NetworkRoute] {
            let table = try KernelReader().table()
            return table.routes.flatMap { route in
                route.hops.isEmpty
                    ? [table.networkRoute(route, hop: nil)] : route.hops.map { table.networkRoute(route, hop: $0) }
            }
        }
    }

    /// Finds wireless interfaces through the kernel's nl80211 family or, if it doesn't respond, through the drivers.
    struct WirelessInterfaces {
        let connect: (Int32) throws(ReachabilityError) -> NetlinkSocket
        let family: WirelessFamily

        /// Returns the indices of wireless interfaces.
        ///
        /// - Throws: Only temporary errors, such as a lack of file descriptors.
        func indices(among links: [NetworkTable.Link]) throws(ReachabilityError) -> Set<Int32> {
            do throws(ReachabilityError) {
                let socket = try connect(NETLINK_GENERIC)
                if let number = family.number {
                    do throws(ReachabilityError) {
                        return try indices(of: number, from: socket)
                    } catch {
                        if error.isTemporary { throw error }
                        // The kernel module was unloaded. After the module is loaded again, the family can have another
                        // number.
                        family.number = nil
                    }
                }
                let number = try findFamily("nl80211", from: socket)
                family.number = number
                return try indices(of: number, from: socket)
            } catch {
                if error.isTemporary { throw error }
                return try indicesByDriver(links)
            }
        }

        private func indices(of family: UInt16, from socket: NetlinkSocket) throws(ReachabilityError) -> Set<Int32> {
            var indices: Set<Int32> = []
            _ = try socket.request(.wirelessInterfaces(family: family)) { message in
                // The attributes follow a header of 4 bytes.
                for attribute in NetlinkAttributes(message.payload.dropFirst(4))
                where attribute.type == NL80211_ATTR_IFINDEX.rawValue {
                    if let index: Int32 = attribute.value.load(at: 0) { indices.insert(index) }
                }
            }
            return indices
        }

        /// Returns the message type of a generic netlink family.
        private func findFamily(_ name: String, from socket: NetlinkSocket) throws(ReachabilityError) -> UInt16 {
            var found: UInt16?
            _ = try socket.request(.families) { message in
                let attributes = NetlinkAttributes(message.payload.dropFirst(4))
                guard attributes.contains(where: { $0.type == CTRL_ATTR_FAMILY_NAME && $0.value.string == name })
                else { return }
                found = attributes.first { $0.type == CTRL_ATTR_FAMILY_ID }?.value.load(at: 0)
            }
            guard let found else { throw ReachabilityError("find the nl80211 family", ENOENT) }
            return found
        }

        private func indicesByDriver(_ links: [NetworkTable.Link]) throws(ReachabilityError) -> Set<Int32> {
            let descriptor = socket(AF_INET, AFAR_SOCK_DATAGRAM, 0)
            guard descriptor >= 0 else {
                let error = ReachabilityError("open a socket")
                if error.isTemporary { throw error }
                return []
            }
            defer { close(descriptor) }
            return Set(links.filter { afar_has_wireless_extensions(descriptor, $0.name) }.map(\.index))
        }
    }

    /// The message type of the nl80211 family, once it is known. It remains valid while the kernel module stays loaded.
    final class WirelessFamily: Sendable {
        /// The instance for this process.
        static let shared = WirelessFamily()

        private let known = Locked<UInt16?>(nil)

        var number: UInt16? {
            get { known.withLock { $0 } }
            set { known.withLock { $0 = newValue } }
        }
    }
#endif
