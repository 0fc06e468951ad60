@testable import AfarReachability

extension NetworkTable {
    /// A table with the links `lo`, `eth0` (2) and `eth1` (3). Both Ethernet links are connected and have no addresses.
    static var twoCables: NetworkTable {
        var table = NetworkTable()
        table.links[1] = Link(index: 1, name: "lo", type: 772, isUp: true, hasCarrier: true, isLoopback: true)
        table.links[2] = Link(index: 2, name: "eth0", isUp: true, hasCarrier: true)
        table.links[3] = Link(index: 3, name: "eth1", isUp: true, hasCarrier: true)
        return table
    }

    /// The table ``twoCables`` with an address and a default route for both links. `eth0` has the lower metric.
    static var twoUplinks: NetworkTable {
        var table = twoCables
        table.add("192.0.2.2", to: 2)
        table.add("198.51.100.2", to: 3)
        table.addRoute("0.0.0.0", 0, via: "192.0.2.1", over: 2, metric: 10)
        table.addRoute("0.0.0.0", 0, via: "198.51.100.1", over: 3, metric: 20)
        return table
    }

    mutating func add(_ address: String, to link: Int32, isGlobal: Bool = true, isUsable: Bool = true) {
        guard let address = IPAddress(address) else { return }
        addresses.append(
            LinkAddress(link: link, address: address, prefixLength: 24, isGlobal: isGlobal, isUsable: isUsable))
    }

    mutating func addRoute(
        _ destination: String, _ length: Int, kind: NetworkRoute.Kind = .unicast, via gateway: String? = nil,
        over link: Int32? = nil, metric: UInt32 = 0, table: UInt32 = 254
    ) {
        guard let destination = IPAddress(destination) else { return }
        let hop = link.map { TableRoute.Hop(link: $0, gateway: gateway.flatMap { IPAddress($0) }) }
        routes.append(
            TableRoute(
                destination: destination, prefixLength: length, kind: kind, table: table, metric: metric,
                hops: hop.map { [$0] } ?? []))
    }

    /// Adds a rule before the default rules.
    mutating func addRule(
        _ action: RoutingRule.Action, priority: UInt32 = 100, _ change: (inout RoutingRule) -> Void = { _ in }
    ) {
        var rule = RoutingRule(family: .ipv4, priority: priority, action: action)
        change(&rule)
        rules = (rules + [rule]).stablySorted { $0.priority < $1.priority }
    }

    var internetPath: NetworkPath { path(to: Destination.internet) }

    func path(to address: String) -> NetworkPath {
        path(to: IPAddress(address).map { [.address($0)] } ?? [])
    }
}

extension NetworkPath {
    var names: [String] { interfaces.map(\.name) }
}
