extension NetworkTable {
    /// Judges the way to destinations, any of which will do.
    func path(to destinations: [Destination]) -> NetworkPath {
        let machine = destinations.filter(isThisMachine)
        if !machine.isEmpty { return pathToThisMachine(machine) }

        var ways: [[FoundHop]] = []
        var families: Set<IPAddress.Family> = []
        var reasons: [NetworkPath.UnsatisfiedReason] = []
        for destination in destinations {
            switch way(to: destination) {
            case .found(let hops):
                ways.append(hops)
                families.insert(destination.family)
            case .missing(.noRoute):
                continue
            case .missing(let reason):
                reasons.append(reason)
            }
        }
        let hops = merged(ways)
        guard !hops.isEmpty else {
            let reason = reasons.max { $0.nearness < $1.nearness } ?? reasonForNoRoute()
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

    /// Whether packets to a destination never leave the machine.
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

    /// Hops to several destinations in one order: each destination's stay in theirs, and the lowest metric goes first.
    private func merged(_ ways: [[FoundHop]]) -> [FoundHop] {
        var rests = ways.map { $0[...] }
        var merged: [FoundHop] = []
        while let next = rests.indices.filter({ !rests[$0].isEmpty }).min(by: { first, second in
            (rests[first].first?.route.metric ?? 0) < (rests[second].first?.route.metric ?? 0)
        }) {
            merged.append(rests[next].removeFirst())
        }
        return merged
    }

    private func networkRoute(_ found: FoundHop) -> NetworkRoute {
        networkRoute(found.route, hop: found.hop)
    }

    /// A route as users see it, over one of its hops.
    func networkRoute(_ route: TableRoute, hop: TableRoute.Hop?) -> NetworkRoute {
        let name = hop.flatMap { links[$0.link]?.name }
        let isLinkLocal = hop?.gateway?.scope == .linkLocal && hop?.gateway?.family == .ipv6
        return NetworkRoute(
            destination: route.destination, prefixLength: route.prefixLength,
            gateway: isLinkLocal ? hop?.gateway?.withZone(name) : hop?.gateway,
            interface: name, metric: Int(clamping: route.metric), kind: route.kind, table: Int(clamping: route.table)
        )
    }

    /// An interface as users see it.
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

extension Sequence where Element: Hashable {
    func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
