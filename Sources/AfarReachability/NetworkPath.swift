#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

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

// MARK: - Status and reasons

extension NetworkPath {
    /// Whether there is a way to the target.
    public enum Status: Sendable, Hashable {
        /// There is a way out of this machine. Whether the target answers, only a request can tell.
        case satisfied
        /// There is no way.
        case unsatisfied(UnsatisfiedReason)
        /// Nobody can tell. Treat it as if there was a way.
        case unknown(UnknownReason)
    }

    /// Why there is no way to a target. When several reasons hold, the one that is nearest to a working network is named.
    public enum UnsatisfiedReason: Sendable, Hashable {
        /// No interface is switched on, except the loopback one.
        case noInterface
        /// The interface is switched on, but its link does not work: the cable is out, the radio is not connected.
        case noCarrier
        /// The link works, but there is no address yet to send from.
        case noAddress
        /// No route leads to the target.
        case noRoute
        /// A route refuses packets to the target.
        case routeRefused(Refusal)
        /// The system does not let this program use the network. Only Apple's systems tell this.
        case denied
        /// The system gives no reason. Only on Apple's systems.
        case unspecified
    }

    /// How a route refuses packets.
    public enum Refusal: Sendable, Hashable {
        /// They vanish without a word.
        case blackhole
        /// The destination is said to be unreachable.
        case unreachable
        /// It is forbidden to send them.
        case prohibited
    }

    /// Why nobody can tell whether there is a way to a target.
    public enum UnknownReason: Sendable, Hashable {
        /// The system does not tell this process about the network, with this error number: a sandbox forbids it, or
        /// there are no more descriptors.
        case refused(errorNumber: Int32)
        /// The target's name has no address. It was not looked up yet, whatever the network does; or the network is there, but
        /// the name server does not answer or does not know the name.
        case nameNotResolved(String)
        /// There is no way now, but a connection would make one. Only Apple's systems tell this.
        case onDemand
    }
}

// MARK: - In plain words

extension NetworkPath.Status: CustomStringConvertible {
    /// The status in plain words, with its reason.
    public var description: String { reason.map { "\(word): \($0)" } ?? word }

    /// The status without its reason.
    package var word: String {
        switch self {
        case .satisfied: "satisfied"
        case .unsatisfied: "unsatisfied"
        case .unknown: "unknown"
        }
    }

    /// Why there is no way, or why nobody knows.
    package var reason: String? {
        switch self {
        case .satisfied: nil
        case .unsatisfied(let reason): "\(reason)"
        case .unknown(let reason): "\(reason)"
        }
    }
}

extension NetworkPath.UnsatisfiedReason: CustomStringConvertible {
    /// The reason in plain words.
    public var description: String {
        switch self {
        case .noInterface: "no network interface is switched on"
        case .noCarrier: "the network interface has no connection"
        case .noAddress: "the network interface has no address"
        case .noRoute: "no route leads there"
        case .routeRefused(let refusal): "a route refuses packets: \(refusal)"
        case .denied: "the system does not let this program use the network"
        case .unspecified: "the system gives no reason"
        }
    }
}

extension NetworkPath.Refusal: CustomStringConvertible {
    /// The kind of refusal in plain words.
    public var description: String {
        switch self {
        case .blackhole: "they vanish (blackhole)"
        case .unreachable: "the destination is unreachable"
        case .prohibited: "it is forbidden to send them"
        }
    }
}

extension NetworkPath.UnknownReason: CustomStringConvertible {
    /// The reason in plain words.
    public var description: String {
        switch self {
        case .refused(let number): "the system tells nothing about the network (\(String(cString: strerror(number))))"
        case .nameNotResolved(let name): "the name \(name) has no address yet"
        case .onDemand: "a connection would bring the network up"
        }
    }
}
