/// One way that packets may go, as the system's routing tables have it.
public struct NetworkRoute: Sendable, Hashable {
    /// What is done with packets that take a route.
    public enum Kind: String, Sendable, Hashable {
        /// They are sent on.
        case unicast
        /// They are for this machine.
        case local
        /// They are for everybody on the link.
        case broadcast
        /// They are for the first of several machines with that address.
        case anycast
        /// They are for a group.
        case multicast
        /// They vanish without a word.
        case blackhole
        /// They are refused: the destination is unreachable.
        case unreachable
        /// They are refused: it is forbidden to send them.
        case prohibit
        /// The search goes on in the next table.
        case `throw`
        /// Anything else.
        case other
    }

    /// The first address of the network that the route leads to; all zeros with the prefix length 0 is the default route.
    public let destination: IPAddress

    /// How many bits of the destination name the network.
    public let prefixLength: Int

    /// The next router, or nil when the network is on the link itself.
    public let gateway: IPAddress?

    /// The name of the interface that packets leave by. A route that refuses packets may have none.
    public let interface: String?

    /// How much the route costs, where two lead to the same network: the lowest wins.
    public let metric: Int

    /// What is done with the packets.
    public let kind: Kind

    /// The number of the routing table; 254 is the main one.
    public let table: Int

    /// Makes a route, for tests and previews for instance.
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

    /// Whether the route is taken where no other fits.
    public var isDefault: Bool { prefixLength == 0 }
}

extension NetworkRoute: CustomStringConvertible {
    /// The route in one line, in the manner of `ip route`.
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
