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
