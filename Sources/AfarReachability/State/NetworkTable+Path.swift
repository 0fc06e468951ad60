extension NetworkTable {
    /// Returns the path to the destinations. One reachable destination is sufficient.
    func path(to destinations: [Destination]) -> NetworkPath {
        let machine = destinations.filter(isThisMachine)
        if !machine.isEmpty { return pathToThisMachine(machine) }

        var hopLists: [[FoundHop]] = []
        var families: Set<IPAddress.Family> = []
        var reasons: [NetworkPath.UnsatisfiedReason] = []
        for destination in destinations {
            switch lookUpRoute(to: destination) {
            case .found(let hops):
                hopLists.append(hops)
                families.insert(destination.family)
            case .missing(.noRoute):
                continue
            case .missing(let reason):
                reasons.append(reason)
            }
        }
        let hops = merged(hopLists)
        guard !hops.isEmpty else {
            let reason = reasons.max { $0.rank < $1.rank } ?? reasonForNoRoute()
            return NetworkPath(status: .unsatisfied(reason))
        }
        return NetworkPath(
            status: .satisfied,
            interfaces: hops.map(\.hop.link).uniqued().compactMap(interface),
            routes: hops.map(networkRoute).uniqued(),
            supportsIPv4: families.contains(.ipv4),
            supportsIPv6: families.contains(.ipv6)
        )
    }

    /// Returns whether packets to a destination stay on the machine.
    private func isThisMachine(_ destination: Destination) -> Bool {
        guard case .address(let address) = destination else { return false }
        return address.isThisMachine || addresses.contains { $0.address == address.withZone(nil) }
    }

    private func pathToThisMachine(_ destinations: [Destination]) -> NetworkPath {
        let addresses = Set(destinations.map { $0.sample.withZone(nil) })
        let holders = self.addresses.filter { addresses.contains($0.address) }.map(\.link)
        let loopback = links.values.filter(\.isLoopback).map(\.index)
        let families = Set(destinations.map(\.family))
        return NetworkPath(
            status: .satisfied,
            interfaces: (holders.isEmpty ? loopback : holders).uniqued().compactMap(interface),
            supportsIPv4: families.contains(.ipv4),
            supportsIPv6: families.contains(.ipv6)
        )
    }

    /// Merges hops to several destinations by metric, lowest first, and keeps the order of each destination's hops.
    private func merged(_ hopLists: [[FoundHop]]) -> [FoundHop] {
        var remaining = hopLists.map { $0[...] }
        var merged: [FoundHop] = []
        while let next = remaining.indices.filter({ !remaining[$0].isEmpty }).min(by: { first, second in
            (remaining[first].first?.route.metric ?? 0) < (remaining[second].first?.route.metric ?? 0)
        }) {
            merged.append(remaining[next].removeFirst())
        }
        return merged
    }

    private func networkRoute(_ found: FoundHop) -> NetworkRoute {
        networkRoute(found.route, hop: found.hop)
    }

    /// Converts a route and one of its hops to the public type, ``NetworkRoute``.
    func networkRoute(_ route: TableRoute, hop: TableRoute.Hop?) -> NetworkRoute {
        let name = hop.flatMap { links[$0.link]?.name }
        let isLinkLocal = hop?.gateway?.scope == .linkLocal && hop?.gateway?.family == .ipv6
        return NetworkRoute(
            destination: route.destination, prefixLength: route.prefixLength,
            gateway: isLinkLocal ? hop?.gateway?.withZone(name) : hop?.gateway,
            interface: name, metric: Int(clamping: route.metric), kind: route.kind, table: Int(clamping: route.table)
        )
    }

    /// Returns the public value for an interface.
    func interface(_ index: Int32) -> NetworkInterface? {
        guard let link = links[index] else { return nil }
        return NetworkInterface(
            name: link.name, index: Int(index), kind: kind(of: link), underlyingKind: underlyingKind(of: link),
            addresses: addresses.filter { $0.link == index && $0.isUsable }.map {
                InterfaceAddress($0.address, prefixLength: $0.prefixLength)
            },
            isUp: link.isUp, hasCarrier: link.hasCarrier
        )
    }
}

// MARK: - Looking up routes

extension NetworkTable {
    /// The result of looking up the path to one destination.
    enum RouteLookup: Equatable {
        /// The usable hops, with the preferred one first.
        case found([FoundHop])
        case missing(NetworkPath.UnsatisfiedReason)
    }

    /// A hop and its route.
    struct FoundHop: Equatable {
        var route: TableRoute
        var hop: TableRoute.Hop
    }

    /// Looks up the path to a destination with the kernel's algorithm: rules in order, then the longest prefix in each
    /// table, then the lowest metric.
    ///
    /// One difference: if a hop's link is down, this method uses an equally specific route with a working link. The
    /// kernel keeps using the first route until a network manager removes it, usually soon.
    func lookUpRoute(to destination: Destination) -> RouteLookup {
        if needsKernelLookup(for: destination) { return kernelLookup(to: destination) }
        var first: RouteLookup?
        var alternatives: [FoundHop] = []
        for group in groups(for: destination) {
            let lookup: RouteLookup =
                switch group {
                case .refused(let refusal): .missing(.routeRefused(refusal))
                case .routes(let routes): lookUpHops(of: routes, to: destination)
                }
            if first == nil {
                first = lookup
                guard case .found = lookup, case .anywhere = destination else { return lookup }
            } else if case .found(let hops) = lookup {
                alternatives += hops
            }
        }
        guard case .found(let hops) = first else { return .missing(.noRoute) }
        return .found(hops + alternatives)
    }

    /// Returns whether the rules or routes exceed what this code supports, so that the kernel must look up the route.
    func needsKernelLookup(for destination: Destination) -> Bool {
        rules.contains { $0.family == destination.family && $0.isUnsupported }
            || routes.contains {
                $0.hasHiddenHops && destination.isCovered(by: $0.destination, length: $0.prefixLength)
            }
    }

    /// Routes that match equally well, or a rule that blocks packets.
    private enum Group {
        case routes([TableRoute])
        case refused(NetworkPath.Refusal)
    }

    /// Returns the matching groups, best match first.
    private func groups(for destination: Destination) -> [Group] {
        var groups: [Group] = []
        var priority: UInt32 = 0
        for rule in rules where rule.family == destination.family && rule.priority >= priority {
            guard rule.applies(to: destination, userID: userID) else { continue }
            switch rule.action {
            case .nothing: continue
            case .goTo(let next):
                // The kernel ignores a goto whose target doesn't exist.
                if rules.contains(where: { $0.family == rule.family && $0.priority == next }) {
                    priority = max(priority, next)
                }
            case .refuse(let refusal):
                groups.append(.refused(refusal))
                return groups
            case .lookUp(let table):
                groups += self.groups(in: table, for: destination, suppressed: rule.suppressedPrefixLength)
            }
        }
        return groups
    }

    private func groups(in table: UInt32, for destination: Destination, suppressed: Int?) -> [Group] {
        let fitting = routes.filter { route in
            route.table == table && destination.isCovered(by: route.destination, length: route.prefixLength)
                && isOnZone(route, of: destination)
        }
        var groups: [Group] = []
        for length in Set(fitting.map(\.prefixLength)).sorted(by: >) {
            let routes = fitting.filter { $0.prefixLength == length }.stablySorted { $0.metric < $1.metric }
            let living = routes.filter { $0.hops.isEmpty || $0.hops.contains { !$0.isDead } }
            // The kernel considers only the best route. If that route is a throw route or is suppressed, the kernel
            // continues with the next rule. Routes that block packets are never suppressed.
            guard let best = living.first else { continue }
            if best.kind == .throw || best.refusal == nil && length <= suppressed ?? -1 { break }
            groups.append(.routes(living))
        }
        return groups
    }

    /// Returns whether a route uses the interface in a link-local destination's zone.
    private func isOnZone(_ route: TableRoute, of destination: Destination) -> Bool {
        guard case .address(let address) = destination, let zone = address.zone else { return true }
        return route.hops.contains { hop in
            links[hop.link]?.name == zone || String(hop.link) == zone
        }
    }

    /// Evaluates the kernel's response, which can include routes whose link has no carrier.
    private func kernelLookup(to destination: Destination) -> RouteLookup {
        switch kernelResponses[destination.sample] {
        case .route(let route): lookUpHops(of: [route], to: destination)
        case .refused(let number): .missing(NetworkPath.UnsatisfiedReason(routingError: number))
        case nil: .missing(.noRoute)
        }
    }
}

// MARK: - Usable hops

extension NetworkTable {
    /// Returns the usable hops of routes that match equally well, in the kernel's order, or the reason that no hop is
    /// usable.
    func lookUpHops(of routes: [TableRoute], to destination: Destination) -> RouteLookup {
        var hops: [FoundHop] = []
        var reason: NetworkPath.UnsatisfiedReason?
        search: for route in routes {
            switch route.kind {
            case .blackhole, .unreachable, .prohibit:
                reason = reason ?? route.refusal.map { .routeRefused($0) }
                break search
            case .throw, .other:
                break search
            case .local, .broadcast, .anycast, .multicast, .unicast:
                break
            }
            for hop in route.hops {
                if let obstacle = obstacle(at: hop, of: route, to: destination) {
                    reason = reason ?? obstacle
                } else {
                    hops.append(FoundHop(route: route, hop: hop))
                }
            }
        }
        return hops.isEmpty ? .missing(reason ?? .noRoute) : .found(hops)
    }

    /// Returns the reason that packets can't use a hop, or `nil` if they can.
    private func obstacle(
        at hop: TableRoute.Hop, of route: TableRoute, to destination: Destination
    ) -> NetworkPath.UnsatisfiedReason? {
        if route.kind == .local { return nil }
        guard let link = links[hop.link], link.isUp else { return .noInterface }
        guard link.hasCarrier, !hop.isDead, !hop.isLinkDown else { return .noCarrier }
        return hasSource(on: link, for: route, to: destination) ? nil : .noAddress
    }

    /// Returns whether the link has a source address.
    private func hasSource(on link: Link, for route: TableRoute, to destination: Destination) -> Bool {
        let isLocalTalk: Bool
        if case .address(let address) = destination {
            isLocalTalk = address.scope == .linkLocal || address.scope == .multicast
        } else {
            isLocalTalk = false
        }
        let candidates = addresses.filter {
            $0.address.family == destination.family && $0.isUsable && ($0.isGlobal || isLocalTalk)
        }
        if let source = route.source, candidates.contains(where: { $0.address == source }) { return true }
        // For IPv6, the kernel uses a global address of any interface if the link has none.
        if destination.family == .ipv6, candidates.contains(where: { $0.isGlobal && $0.address.scope == .global }) {
            return true
        }
        // Routers have their address on the loopback interface, and point-to-point links can use any address.
        return candidates.contains { $0.link == link.index }
            || candidates.contains { $0.isGlobal && (link.isPointToPoint || links[$0.link]?.isLoopback == true) }
    }

    /// Returns the reason that no route exists. The lowest layer is checked first.
    func reasonForNoRoute() -> NetworkPath.UnsatisfiedReason {
        let links = links.values.filter { !$0.isLoopback && $0.isUp }
        guard !links.isEmpty else { return .noInterface }
        let connected = Set(links.filter(\.hasCarrier).map(\.index))
        guard !connected.isEmpty else { return .noCarrier }
        let hasAddress = addresses.contains { connected.contains($0.link) && $0.isUsable && $0.isGlobal }
        return hasAddress ? .noRoute : .noAddress
    }
}

extension NetworkPath.UnsatisfiedReason {
    /// Creates the reason for an error of a route request: `EINVAL` for a blackhole, `EACCES` for a prohibited route,
    /// `EHOSTUNREACH` for an unreachable route, and `ENETUNREACH` if no route exists.
    init(routingError number: Int32) {
        switch number {
        case 22: self = .routeRefused(.blackhole)
        case 13: self = .routeRefused(.prohibited)
        case 113: self = .routeRefused(.unreachable)
        default: self = .noRoute
        }
    }

    /// A higher number is closer to a working network.
    var rank: Int {
        switch self {
        case .unspecified: 0
        case .noInterface: 1
        case .noCarrier: 2
        case .noAddress: 3
        case .noRoute: 4
        case .routeRefused: 5
        case .denied: 6
        }
    }
}

// MARK: - Sequences

extension Sequence where Element: Hashable {
    func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

extension Sequence {
    func stablySorted(by areInIncreasingOrder: (Element, Element) -> Bool) -> [Element] {
        enumerated().sorted { first, second in
            if areInIncreasingOrder(first.element, second.element) { return true }
            if areInIncreasingOrder(second.element, first.element) { return false }
            return first.offset < second.offset
        }.map(\.element)
    }
}
