/// What the system knows of the way to a target: whether there is one, and over which interfaces.
///
/// Two paths are equal when nothing that they tell differs. So a change of an address, of a gateway or of the primary
/// interface makes another path, even where the status stays.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a way, and if not, why.
    public let status: Status

    /// The interfaces over which the target can be reached, the one that is used first.
    public let interfaces: [NetworkInterface]

    /// The routes that lead to the target over these interfaces, the one that is used first.
    public let routes: [NetworkRoute]

    /// Whether the target can be reached with IPv4.
    public let supportsIPv4: Bool

    /// Whether the target can be reached with IPv6.
    public let supportsIPv6: Bool

    /// Makes a path, for tests and previews for instance.
    public init(
        status: Status, interfaces: [NetworkInterface] = [], routes: [NetworkRoute] = [], supportsIPv4: Bool = false,
        supportsIPv6: Bool = false
    ) {
        self.status = status
        self.interfaces = interfaces
        self.routes = routes
        self.supportsIPv4 = supportsIPv4
        self.supportsIPv6 = supportsIPv6
    }

    /// Whether it is worth a try: there is a way, or nobody knows. Only a network that is known to be away is offline.
    public var isOnline: Bool {
        if case .unsatisfied = status { false } else { true }
    }

    /// The interface that connections to the target use.
    public var primaryInterface: NetworkInterface? { interfaces.first }

    /// The next routers on the way, the one that is used first. Link-local ones name their interface (`fe80::1%eth0`).
    public var gateways: [IPAddress] {
        var seen: Set<IPAddress> = []
        return routes.compactMap(\.gateway).filter { seen.insert($0).inserted }
    }

    /// Whether one of the interfaces is of this kind, or runs over one that is.
    public func usesInterfaceKind(_ kind: NetworkInterface.Kind) -> Bool {
        interfaces.contains { $0.kind == kind || $0.underlyingKind == kind }
    }
}

extension NetworkPath: CustomStringConvertible {
    /// The status, the protocols and the interfaces in one line.
    public var description: String {
        let versions = [supportsIPv4 ? "IPv4" : nil, supportsIPv6 ? "IPv6" : nil].compactMap(\.self)
        let parts = [status.description] + versions + interfaces.map(\.description)
        return parts.joined(separator: ", ")
    }
}
