extension NetworkTable {
    /// The usable hops of routes that fit equally well, in the kernel's order, or why there is none.
    func way(over routes: [TableRoute], to destination: Destination) -> Way {
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

    /// Why packets cannot leave by a hop; nil when they can.
    private func obstacle(
        at hop: TableRoute.Hop, of route: TableRoute, to destination: Destination
    ) -> NetworkPath.UnsatisfiedReason? {
        if route.kind == .local { return nil }
        guard let link = links[hop.link], link.isUp else { return .noInterface }
        guard link.hasCarrier, !hop.isDead, !hop.isLinkDown else { return .noCarrier }
        return hasSource(on: link, for: route, to: destination) ? nil : .noAddress
    }

    /// Whether there is an address to send from.
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
        // For IPv6 the kernel takes a global address of any interface when the link has none.
        if destination.family == .ipv6, candidates.contains(where: { $0.isGlobal && $0.address.scope == .global }) {
            return true
        }
        // Routers keep their address on the loopback interface, and links between two points borrow any.
        return candidates.contains { $0.link == link.index }
            || candidates.contains { $0.isGlobal && (link.isPointToPoint || links[$0.link]?.isLoopback == true) }
    }

    /// Why there is no route at all: what is missing below comes first.
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
    /// What the kernel's refusal to name a route means: EINVAL for a blackhole, EACCES for one that is prohibited,
    /// EHOSTUNREACH for one that is unreachable, ENETUNREACH for none.
    init(routingError number: Int32) {
        switch number {
        case 22: self = .routeRefused(.blackhole)
        case 13: self = .routeRefused(.prohibited)
        case 113: self = .routeRefused(.unreachable)
        default: self = .noRoute
        }
    }

    /// How near to a working network the reason is.
    var nearness: Int {
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
