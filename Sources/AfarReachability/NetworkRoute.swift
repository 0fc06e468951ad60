/// A route in the system's routing tables.
public struct NetworkRoute: Sendable, Hashable {
    /// The action for packets that match a route.
    public enum Kind: String, Sendable, Hashable {
        /// Packets are forwarded.
        case unicast
        /// Packets are delivered to this machine.
        case local
        /// Packets are sent to all machines on the link.
        case broadcast
        /// Packets are delivered to the nearest of several machines with the address.
        case anycast
        /// Packets are sent to a multicast group.
        case multicast
        /// Packets are dropped silently.
        case blackhole
        /// Packets are rejected because the destination is unreachable.
        case unreachable
        /// Packets are rejected because sending is prohibited.
        case prohibit
        /// The lookup continues in the next table.
        case `throw`
        /// Any other action.
        case other
    }

    /// The first address of the destination network. The default route has all zeros and the prefix length 0.
    public let destination: IPAddress

    /// The number of leading bits that identify the network.
    public let prefixLength: Int

    /// The next router, or `nil` if the network is directly on the link.
    public let gateway: IPAddress?

    /// The name of the interface that packets leave through. It can be `nil` for a route that blocks packets.
    public let interface: String?

    /// The cost of the route. Among routes to the same network, the lowest metric wins.
    public let metric: Int

    /// The action for packets that match the route.
    public let kind: Kind

    /// The number of the routing table. The main table is 254.
    public let table: Int

    /// Creates a route, for example for tests and previews.
    public init(
        destination: IPAddress, prefixLength: Int, gateway: IPAddress? = nil, interface: String? = nil, metric: Int = 0,
        kind: Kind = .unicast, table: Int = 254
    ) {
        self.destination = destination
        self.prefixLength = prefixLength
        self.gateway = gateway
        self.interface = interface
        self.metric = metric
        self.kind = kind
        self.table = table
    }

    /// A Boolean value that indicates whether this is a default route.
    public var isDefault: Bool { prefixLength == 0 }
}

extension NetworkRoute: CustomStringConvertible {
    /// The route in one line, similar to the output of `ip route`.
    public var description: String {
        var words = kind == .unicast ? [] : [kind.rawValue]
        words.append(isDefault ? "default" : "\(destination)/\(prefixLength)")
        if let gateway { words.append("via \(gateway)") }
        if let interface { words.append("dev \(interface)") }
        if metric != 0 { words.append("metric \(metric)") }
        if table != 254 { words.append("table \(table)") }
        return words.joined(separator: " ")
    }
}
