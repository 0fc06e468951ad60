/// What the kernel said about the network at one moment: plain values, which ``NetworkTable/path(to:)`` judges.
struct NetworkTable: Sendable, Equatable {
    var links: [Int32: Link] = [:]
    var addresses: [LinkAddress] = []
    var routes: [TableRoute] = []
    var rules: [RoutingRule] = RoutingRule.defaults
    /// What the kernel answered when it was asked for the way itself, because the rules are beyond what is judged here.
    var answers: [IPAddress: KernelAnswer] = [:]
    /// Whether nothing changed while it was read.
    var isSettled = true
    /// Who asks, for rules that apply to some users.
    var userID: UInt32 = 0

    /// A network interface.
    struct Link: Sendable, Equatable {
        var index: Int32
        var name = ""
        /// The type of hardware, `ARPHRD_…`.
        var type: UInt16 = 1
        /// What software makes the interface, such as `vlan` or `wireguard`.
        var maker: String?
        var isUp = false
        /// Whether the lower layers work, and the link is ready for packets.
        var hasCarrier = false
        /// Whether there are no neighbours to ask for, so that an address of the interface's own is not needed.
        var isPointToPoint = false
        var isLoopback = false
        var isWireless = false
        /// The interface below, in the same namespace.
        var lower: Int32?
        /// The bridge or bond that this one is a part of.
        var master: Int32?
    }

    /// An address of an interface.
    struct LinkAddress: Sendable, Equatable {
        var link: Int32
        var address: IPAddress
        var prefixLength: Int
        /// How far it reaches, as the kernel sees it.
        var isGlobal: Bool
        /// Whether it may be used: not one that is still checked for duplicates, or is one.
        var isUsable: Bool
    }

    /// What the kernel answers when asked for the way to an address.
    enum KernelAnswer: Sendable, Equatable {
        case route(TableRoute)
        /// The number of an error.
        case refused(Int32)
    }
}

/// A route as the kernel holds it: one destination, and one or several next hops.
struct TableRoute: Sendable, Equatable {
    struct Hop: Sendable, Equatable {
        var link: Int32
        var gateway: IPAddress?
        /// Whether the kernel has given this hop up.
        var isDead = false
        /// Whether the kernel saw the carrier of its link vanish.
        var isLinkDown = false
    }

    var destination: IPAddress
    var prefixLength: Int
    var kind = NetworkRoute.Kind.unicast
    var table: UInt32 = 254
    var metric: UInt32 = 0
    var source: IPAddress?
    var hops: [Hop] = []
    /// Whether the hops are kept elsewhere, and were not told.
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

/// A rule that says which routing table is asked for which packets, lowest priority number first.
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
    /// Whether packets must come from certain addresses, carry a type of service or a tunnel's number, or belong to a
    /// domain of its own: packets of an ordinary new connection do not.
    var wantsUncommonPackets = false
    var inputInterface: String?
    var outputInterface: String?
    var mark: UInt32 = 0
    var markMask: UInt32 = 0
    var users: ClosedRange<UInt32>?
    /// Routes whose prefix is not longer than this are left out.
    var suppressedPrefixLength: Int?
    /// Whether the rule asks for what is not known here (ports, protocols, groups of interfaces).
    var isBeyondJudgement = false

    /// What every kernel begins with, and what one without rules does.
    static let defaults: [RoutingRule] = IPAddress.Family.allCases.flatMap { family in
        [(0, 255), (32766, 254), (32767, 253)].map { priority, table in
            RoutingRule(family: family, priority: priority, action: .lookUp(table: table))
        }
    }

    /// Whether the rule is for a new connection of this user to a destination, with no socket option set.
    func applies(to target: Destination, userID: UInt32) -> Bool {
        let fits =
            !wantsUncommonPackets
            && (destination.map { target.isCovered(by: $0.address, length: $0.length) } ?? true)
            && (inputInterface == nil || inputInterface == "lo")
            && outputInterface == nil
            && mark & markMask == 0
            && (users?.contains(userID) ?? true)
        return fits != isInverted
    }
}

// MARK: - Destinations

/// Where packets are to go.
enum Destination: Sendable, Hashable {
    /// The internet, with one family of addresses.
    case anywhere(IPAddress.Family)
    case address(IPAddress)

    static let internet: [Destination] = [.anywhere(.ipv4), .anywhere(.ipv6)]

    var family: IPAddress.Family {
        switch self {
        case .anywhere(let family): family
        case .address(let address): address.family
        }
    }

    /// Whether a route to this network may be the way, or a rule for it applies. Tunnels often split the default route, `0.0.0.0/1` and
    /// `128.0.0.0/1`, to be more specific than it, so all that covers an eighth of the internet is a way into it.
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

    /// An address to ask the kernel about. Nothing is ever sent to it: for the internet it is one that is known to be used,
    /// a root name server's.
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

    /// What an interface is. Those that only divide or join others count as what lies below them.
    func kind(of link: Link) -> Kind {
        let kind = link.ownKind
        guard link.isTransparent else { return kind }
        return lowerKinds(of: link, isWanted: { !$0.isTransparent }).first ?? kind
    }

    /// What an interface runs over in the end: a radio, a cable or a modem, where one can be found below it.
    func underlyingKind(of link: Link) -> Kind {
        let kind = kind(of: link)
        guard kind == .bridge || kind == .vpn || kind == .virtual else { return kind }
        return lowerKinds(of: link, isWanted: { $0.ownKind.isPhysical && !$0.isTransparent }).first ?? kind
    }

    /// The kinds of those links below one that are wanted, the working ones first. Each link is visited once, so circles,
    /// which the kernel forbids but two messages may show, do no harm.
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
    /// What the interface is when nothing is known of others.
    var ownKind: NetworkInterface.Kind {
        if isLoopback || type == HardwareType.loopback { return .loopback }
        if isWireless { return .wifi }
        if isModem { return .cellular }
        if let maker, let kind = Self.kinds[maker] { return kind }
        return switch type {
        case HardwareType.ethernet: maker == nil ? .ethernet : .virtual
        case HardwareType.ieee80211, HardwareType.ieee80211Prism, HardwareType.ieee80211Radiotap: .wifi
        case HardwareType.tunnel, HardwareType.tunnel6, HardwareType.sit, HardwareType.ipGRE, HardwareType.ip6GRE,
            HardwareType.none:
            .vpn
        default: .other
        }
    }

    /// Whether the interface only divides another one, or joins several.
    var isTransparent: Bool {
        guard let maker else { return false }
        return ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bond", "team", "hsr", "macsec"].contains(maker)
    }

    private var isModem: Bool {
        type == HardwareType.rawIP || type == HardwareType.ppp || maker == "wwan" || maker == "rmnet" || maker == "ppp"
            || name.hasPrefix("wwan") || name.hasPrefix("wwp") || name.hasPrefix("rmnet")
    }

    private static let kinds: [String: NetworkInterface.Kind] = {
        var kinds: [String: NetworkInterface.Kind] = ["bridge": .bridge, "openvswitch": .bridge]
        for maker in [
            "wireguard", "ovpn", "ipip", "ip6tnl", "sit", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan",
            "vti", "vti6", "xfrm", "vxlan", "geneve", "l2tpeth", "gtp", "amt",
        ] {
            kinds[maker] = .vpn
        }
        for maker in ["veth", "dummy", "ifb", "netkit", "nlmon", "vrf", "vcan"] { kinds[maker] = .virtual }
        return kinds
    }()
}

extension NetworkInterface.Kind {
    var isPhysical: Bool { self == .wifi || self == .ethernet || self == .cellular }
}

/// The numbers that `<linux/if_arp.h>` gives to hardware. That header clashes with Glibc's.
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
