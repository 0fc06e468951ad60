#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The system's view of the network path to a target: whether a path exists, and which interfaces it uses.
///
/// Two paths are equal if all their properties are equal. A change of an address, a gateway or the primary interface produces a
/// different path even if the status stays the same.
public struct NetworkPath: Sendable, Hashable {
    /// The availability of the path. If it is unavailable or unknown, the status includes the reason.
    public let status: Status

    /// The interfaces that can reach the target, with the preferred one first.
    public let interfaces: [NetworkInterface]

    /// The routes to the target over these interfaces, with the preferred one first.
    public let routes: [NetworkRoute]

    /// A Boolean value that indicates whether the target can be reached over IPv4.
    public let supportsIPv4: Bool

    /// A Boolean value that indicates whether the target can be reached over IPv6.
    public let supportsIPv6: Bool

    /// Creates a path, for example for tests and previews.
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

    /// A Boolean value that indicates whether a request is worth trying.
    ///
    /// The value is `true` if a path exists or its status is unknown, and `false` only if the network is known to be
    /// unavailable.
    public var isOnline: Bool {
        if case .unsatisfied = status { false } else { true }
    }

    /// The interface that connections to the target use.
    public var primaryInterface: NetworkInterface? { interfaces.first }

    /// The next routers on the path, with the preferred one first. Link-local addresses include their interface
    /// (`fe80::1%eth0`).
    public var gateways: [IPAddress] {
        var seen: Set<IPAddress> = []
        return routes.compactMap(\.gateway).filter { seen.insert($0).inserted }
    }

    /// Returns a Boolean value that indicates whether one of the interfaces is of this kind or uses an interface of
    /// this kind.
    public func usesInterfaceKind(_ kind: NetworkInterface.Kind) -> Bool {
        interfaces.contains { $0.kind == kind || $0.underlyingKind == kind }
    }
}

extension NetworkPath: CustomStringConvertible {
    /// The status, protocols and interfaces in one line.
    public var description: String {
        let versions = [supportsIPv4 ? "IPv4" : nil, supportsIPv6 ? "IPv6" : nil].compactMap(\.self)
        let parts = [status.description] + versions + interfaces.map(\.description)
        return parts.joined(separator: ", ")
    }
}

extension NetworkPath {
    /// The availability of a path.
    public enum Status: Sendable, Hashable {
        /// A path out of this machine exists. Only a request can determine whether the target responds.
        case satisfied
        /// No path exists.
        case unsatisfied(UnsatisfiedReason)
        /// The status can't be determined. Treat it as if a path exists.
        case unknown(UnknownReason)
    }

    /// The reason that no path exists. If several reasons apply, the value is the one closest to a working network.
    public enum UnsatisfiedReason: Sendable, Hashable {
        /// No interface except the loopback interface is up.
        case noInterface
        /// The interface is up, but its link isn't: the cable is unplugged or the radio isn't connected.
        case noCarrier
        /// The link works, but has no source address yet.
        case noAddress
        /// No route leads to the target.
        case noRoute
        /// A route blocks packets to the target.
        case routeRefused(Refusal)
        /// The system doesn't allow this program to use the network. Apple platforms only.
        case denied
        /// The system gives no reason. Apple platforms only.
        case unspecified
    }

    /// The way in which a route blocks packets.
    public enum Refusal: Sendable, Hashable {
        /// Packets are dropped silently.
        case blackhole
        /// The sender is notified that the destination is unreachable.
        case unreachable
        /// The sender is notified that sending is prohibited.
        case prohibited
    }

    /// The reason that the status of a path can't be determined.
    public enum UnknownReason: Sendable, Hashable {
        /// The network state can't be read, for example because of a sandbox or a lack of file descriptors. The
        /// associated value is the system's error number.
        case refused(errorNumber: Int32)
        /// The target's name has no address. Either the first lookup hasn't finished, or the network works but the name
        /// server doesn't respond or has no such name.
        case nameNotResolved(String)
        /// No path exists now, but a connection would establish one. Apple platforms only.
        case onDemand
    }
}

extension NetworkPath.Status: CustomStringConvertible {
    /// A description of the status and its reason.
    public var description: String { reason.map { "\(word): \($0)" } ?? word }

    /// The status without its reason.
    package var word: String {
        switch self {
        case .satisfied: "satisfied"
        case .unsatisfied: "unsatisfied"
        case .unknown: "unknown"
        }
    }

    /// The reason that no path exists or that the status is unknown.
    package var reason: String? {
        switch self {
        case .satisfied: nil
        case .unsatisfied(let reason): "\(reason)"
        case .unknown(let reason): "\(reason)"
        }
    }
}

extension NetworkPath.UnsatisfiedReason: CustomStringConvertible {
    /// A description of the reason.
    public var description: String {
        switch self {
        case .noInterface: "no network interface is up"
        case .noCarrier: "the network interface has no connection"
        case .noAddress: "the network interface has no address"
        case .noRoute: "no route to the target"
        case .routeRefused(let refusal): "a route blocks packets: \(refusal)"
        case .denied: "the system doesn't allow this program to use the network"
        case .unspecified: "the system gives no reason"
        }
    }
}

extension NetworkPath.Refusal: CustomStringConvertible {
    /// A description of the kind of refusal.
    public var description: String {
        switch self {
        case .blackhole: "dropped silently (blackhole)"
        case .unreachable: "destination unreachable"
        case .prohibited: "prohibited"
        }
    }
}

extension NetworkPath.UnknownReason: CustomStringConvertible {
    /// A description of the reason.
    public var description: String {
        switch self {
        case .refused(let number): "the network state can't be read (\(String(cString: strerror(number))))"
        case .nameNotResolved(let name): "the name \(name) has no address yet"
        case .onDemand: "a connection would bring the network up"
        }
    }
}
