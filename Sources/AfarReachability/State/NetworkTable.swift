/// A snapshot of the kernel's network tables, which ``NetworkTable/path(to:)`` evaluates.
struct NetworkTable: Sendable, Equatable {
    var links: [Int32: Link] = [:]
    var addresses: [LinkAddress] = []
    var routes: [TableRoute] = []
    var rules: [RoutingRule] = RoutingRule.defaults
    /// The kernel's responses to route requests, for rules that this code doesn't support.
    var kernelResponses: [IPAddress: KernelResponse] = [:]
    /// Whether the tables stayed unchanged during the read.
    var isSettled = true
    /// The user ID of this process, for rules that apply to certain users.
    var userID: UInt32 = 0

    /// A network interface.
    struct Link: Sendable, Equatable {
        var index: Int32
        var name = ""
        /// The hardware type, `ARPHRD_…`.
        var type: UInt16 = 1
        /// The kind of software interface, such as `vlan` or `wireguard`.
        var driverKind: String?
        var isUp = false
        /// Whether the lower layers work and the link is ready for packets.
        var hasCarrier = false
        /// Whether the link has no neighbor discovery and needs no address of its own.
        var isPointToPoint = false
        var isLoopback = false
        var isWireless = false
        /// The lower interface, if it is in the same namespace.
        var lower: Int32?
        /// The bridge or bond to which this interface belongs.
        var master: Int32?
    }

    struct LinkAddress: Sendable, Equatable {
        var link: Int32
        var address: IPAddress
        var prefixLength: Int
        /// Whether the kernel gives the address global scope.
        var isGlobal: Bool
        /// Whether the address can be used. A duplicate, or an address that is still being checked for duplicates,
        /// can't be used.
        var isUsable: Bool
    }

    /// The kernel's response to a route request.
    enum KernelResponse: Sendable, Equatable {
        case route(TableRoute)
        /// An error number.
        case refused(Int32)
    }
}

/// A route in the kernel's tables, with one destination and one or more next hops.
struct TableRoute: Sendable, Equatable {
    struct Hop: Sendable, Equatable {
        var link: Int32
        var gateway: IPAddress?
        /// Whether the kernel no longer uses this hop.
        var isDead = false
        /// Whether the kernel detected that the link lost its carrier.
        var isLinkDown = false
    }

    var destination: IPAddress
    var prefixLength: Int
    var kind = NetworkRoute.Kind.unicast
    var table: UInt32 = 254
    var metric: UInt32 = 0
    var source: IPAddress?
    var hops: [Hop] = []
    /// Whether the kernel stores the hops separately and didn't include them.
    var hasHiddenHops = false

    var refusal: NetworkPath.Refusal? {
        switch kind {
        case .blackhole: .blackhole
        case .unreachable: .unreachable
        case .prohibit: .prohibited
        default: nil
        }
    }
}

// MARK: - Rules

/// A rule that selects the routing table for packets. The lowest priority number applies first.
struct RoutingRule: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        case lookUp(table: UInt32)
        case goTo(priority: UInt32)
        case nothing
        case refuse(NetworkPath.Refusal)
    }

    struct Prefix: Sendable, Equatable {
        var address: IPAddress
        var length: Int
    }

    var family: IPAddress.Family
    var priority: UInt32
    var action: Action
    var isInverted = false
    var destination: Prefix?
    /// Whether the rule matches only packets that a new ordinary connection doesn't send. Such packets have a certain
    /// source address, type of service or tunnel ID, or belong to a separate routing domain (VRF).
    var requiresUncommonPackets = false
    var inputInterface: String?
    var outputInterface: String?
    var mark: UInt32 = 0
    var markMask: UInt32 = 0
    var users: ClosedRange<UInt32>?
    /// Routes with a prefix of this length or shorter are ignored.
    var suppressedPrefixLength: Int?
    /// Whether the rule has conditions that this code doesn't support (ports, protocols, groups of interfaces).
    var isUnsupported = false

    /// The kernel's initial rules. They also apply to kernels without support for rules.
    static let defaults: [RoutingRule] = IPAddress.Family.allCases.flatMap { family in
        [(0, 255), (32766, 254), (32767, 253)].map { priority, table in
            RoutingRule(family: family, priority: priority, action: .lookUp(table: table))
        }
    }

    /// Returns whether the rule applies to this user's new connections to a destination, if the connections have no socket
    /// options.
    func applies(to target: Destination, userID: UInt32) -> Bool {
        let fits =
            !requiresUncommonPackets
            && (destination.map { target.isCovered(by: $0.address, length: $0.length) } ?? true)
            && (inputInterface == nil || inputInterface == "lo")
            && outputInterface == nil
            && mark & markMask == 0
            && (users?.contains(userID) ?? true)
        return fits != isInverted
    }
}

// MARK: - Destinations

/// A destination of packets.
enum Destination: Sendable, Hashable {
    /// The internet, over one address family.
    case anywhere(IPAddress.Family)
    case address(IPAddress)

    static let internet: [Destination] = [.anywhere(.ipv4), .anywhere(.ipv6)]

    var family: IPAddress.Family {
        switch self {
        case .anywhere(let family): family
        case .address(let address): address.family
        }
    }

    /// Returns whether a route or rule for this network can apply to the destination. Tunnels often split the default
    /// route into `0.0.0.0/1` and `128.0.0.0/1` so that their routes are more specific. A network that covers at least
    /// an eighth of the internet therefore counts as a route to it.
    func isCovered(by network: IPAddress, length: Int) -> Bool {
        switch self {
        case .address(let address):
            address.matches(network, first: length)
        case .anywhere(.ipv4):
            network.family == .ipv4 && length <= 3 && network.scope != .multicast
        case .anywhere(.ipv6):
            length <= 3 && network.matches(IPAddress(family: .ipv6, bits: 0x2000 << 112), first: length)
        }
    }

    /// An address for a route request. No packet is sent to it. For the internet, it is the address of a root name
    /// server, which is certain to be in use.
    var sample: IPAddress {
        switch self {
        case .address(let address): address
        case .anywhere(.ipv4): IPAddress(family: .ipv4, bits: 0xC629_0004 << 96)
        case .anywhere(.ipv6): IPAddress(family: .ipv6, bits: 0x2001_0503_BA3E_0000_0000_0000_0002_0030)
        }
    }
}

// MARK: - Kinds of interfaces

extension NetworkTable {
    typealias Kind = NetworkInterface.Kind

    /// Returns the kind of an interface. An interface that only divides another interface, or joins several, has the kind
    /// of its lower interface.
    func kind(of link: Link) -> Kind {
        let kind = link.ownKind
        guard link.isTransparent else { return kind }
        return lowerKinds(of: link, isWanted: { !$0.isTransparent }).first ?? kind
    }

    /// Returns the kind of the lowest interface that an interface uses (a radio, a cable or a modem), if one can be
    /// found.
    func underlyingKind(of link: Link) -> Kind {
        let kind = kind(of: link)
        guard kind == .bridge || kind == .vpn || kind == .virtual else { return kind }
        return lowerKinds(of: link, isWanted: { $0.ownKind.isPhysical && !$0.isTransparent }).first ?? kind
    }

    /// Returns the kinds of the lower links that match, with working links first. Each link is visited once. The kernel
    /// prevents cycles, but its messages can describe a cycle if a link changes during the read.
    private func lowerKinds(of link: Link, isWanted: (Link) -> Bool) -> [Kind] {
        var visited: Set<Int32> = [link.index]
        var waiting = [link]
        var found: [Link] = []
        while let next = waiting.popLast() {
            if next.index != link.index, isWanted(next) {
                found.append(next)
                continue
            }
            let below = links.values.filter { $0.index == next.lower || $0.master == next.index }
            for lower in below where visited.insert(lower.index).inserted { waiting.append(lower) }
        }
        return found.sorted { first, second in
            first.hasCarrier == second.hasCarrier ? first.index < second.index : first.hasCarrier
        }.map(\.ownKind)
    }
}

extension NetworkTable.Link {
    /// The kind of the interface, regardless of other interfaces.
    var ownKind: NetworkInterface.Kind {
        if isLoopback || type == HardwareType.loopback { return .loopback }
        if isWireless { return .wifi }
        if isModem { return .cellular }
        if let driverKind, let kind = Self.kinds[driverKind] { return kind }
        return switch type {
        case HardwareType.ethernet: driverKind == nil ? .ethernet : .virtual
        case HardwareType.ieee80211, HardwareType.ieee80211Prism, HardwareType.ieee80211Radiotap: .wifi
        case HardwareType.tunnel, HardwareType.tunnel6, HardwareType.sit, HardwareType.ipGRE, HardwareType.ip6GRE,
            HardwareType.none:
            .vpn
        default: .other
        }
    }

    /// Whether the interface only divides another interface or joins several.
    var isTransparent: Bool {
        guard let driverKind else { return false }
        return ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bond", "team", "hsr", "macsec"].contains(driverKind)
    }

    private var isModem: Bool {
        type == HardwareType.rawIP || type == HardwareType.ppp || driverKind == "wwan" || driverKind == "rmnet"
            || driverKind == "ppp"
            || name.hasPrefix("wwan") || name.hasPrefix("wwp") || name.hasPrefix("rmnet")
    }

    private static let kinds: [String: NetworkInterface.Kind] = {
        var kinds: [String: NetworkInterface.Kind] = ["bridge": .bridge, "openvswitch": .bridge]
        for driverKind in [
            "wireguard", "ovpn", "ipip", "ip6tnl", "sit", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan",
            "vti", "vti6", "xfrm", "vxlan", "geneve", "l2tpeth", "gtp", "amt",
        ] {
            kinds[driverKind] = .vpn
        }
        for driverKind in ["veth", "dummy", "ifb", "netkit", "nlmon", "vrf", "vcan"] { kinds[driverKind] = .virtual }
        return kinds
    }()
}

extension NetworkInterface.Kind {
    var isPhysical: Bool { self == .wifi || self == .ethernet || self == .cellular }
}

/// The hardware types of `<linux/if_arp.h>`. That header conflicts with Glibc's.
enum HardwareType {
    static let ethernet: UInt16 = 1
    static let ppp: UInt16 = 512
    static let rawIP: UInt16 = 519
    static let tunnel: UInt16 = 768
    static let tunnel6: UInt16 = 769
    static let loopback: UInt16 = 772
    static let sit: UInt16 = 776
    static let ipGRE: UInt16 = 778
    static let ieee80211: UInt16 = 801
    static let ieee80211Prism: UInt16 = 802
    static let ieee80211Radiotap: UInt16 = 803
    static let ip6GRE: UInt16 = 823
    static let none: UInt16 = 0xFFFE
}
