extension IPAddress {
    /// How far an address reaches.
    public enum Scope: Sendable, Hashable {
        /// No address at all: `0.0.0.0` and `::`. A connection to it reaches the machine itself.
        case unspecified
        /// The machine itself: `127.0.0.0/8` and `::1`.
        case loopback
        /// The link that the interface is on: `169.254.0.0/16` and `fe80::/10`.
        case linkLocal
        /// A private network: `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16` (RFC 1918), `100.64.0.0/10` (RFC 6598) and
        /// `fc00::/7` (RFC 4193).
        case privateUse
        /// Many receivers: `224.0.0.0/4` and `ff00::/8`.
        case multicast
        /// Everything else.
        case global
    }

    /// How far this address reaches. One that stands for an IPv4 address (`::ffff:10.0.0.1`) reaches as far as that.
    public var scope: Scope {
        let address = unmapped
        if address.bits == 0 { return .unspecified }
        return Self.ranges[address.family]?.first { address.matches($0.address, first: $0.length) }?.scope ?? .global
    }

    private typealias ScopeRange = (address: IPAddress, length: Int, scope: Scope)

    private static let ranges: [Family: [ScopeRange]] = [
        .ipv4: [
            (v4(127, 0), 8, .loopback), (v4(169, 254), 16, .linkLocal), (v4(10, 0), 8, .privateUse),
            (v4(172, 16), 12, .privateUse), (v4(192, 168), 16, .privateUse), (v4(100, 64), 10, .privateUse),
            (v4(224, 0), 4, .multicast),
        ],
        .ipv6: [
            (IPAddress(family: .ipv6, bits: 1), 128, .loopback), (v6(0xFE80), 10, .linkLocal),
            (v6(0xFC00), 7, .privateUse), (v6(0xFF00), 8, .multicast),
        ],
    ]

    private static func v4(_ first: UInt128, _ second: UInt128) -> IPAddress {
        IPAddress(family: .ipv4, bits: first << 120 | second << 112)
    }

    private static func v6(_ first: UInt128) -> IPAddress { IPAddress(family: .ipv6, bits: first << 112) }

    /// Whether a connection to this address never leaves the machine, whatever its interfaces do.
    var isThisMachine: Bool { scope == .loopback || scope == .unspecified }
}
