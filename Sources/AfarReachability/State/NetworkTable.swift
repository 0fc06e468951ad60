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
