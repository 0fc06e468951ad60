#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable {
    /// The version of the protocol that an address belongs to.
    public enum Family: Sendable, Hashable, CaseIterable {
        /// IPv4: 4 bytes.
        case ipv4
        /// IPv6: 16 bytes.
        case ipv6

        var bitCount: Int { self == .ipv4 ? 32 : 128 }
    }

    /// Whether this is an IPv4 or an IPv6 address.
    public let family: Family

    /// The interface that a link-local address belongs to, by name or number: `eth0` in `fe80::1%eth0`.
    public let zone: String?

    /// The address from its first bit on. That of IPv4 fills the upper 32 bits.
    let bits: UInt128

    init(family: Family, bits: UInt128, zone: String? = nil) {
        self.family = family
        self.bits = bits
        self.zone = zone
    }

    /// Makes an address of 4 or 16 bytes in the network's order. Any other number of bytes is no address.
    public init?(bytes: some Collection<UInt8>, zone: String? = nil) {
        switch bytes.count {
        case 4: family = .ipv4
        case 16: family = .ipv6
        default: return nil
        }
        let value = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        bits = value << (128 - family.bitCount)
        self.zone = zone
    }

    /// The 4 or 16 bytes, in the network's order.
    public var bytes: [UInt8] {
        (0..<family.bitCount / 8).map { UInt8(truncatingIfNeeded: bits >> (120 - 8 * $0)) }
    }

    /// The address with the interface that it belongs to.
    public func withZone(_ zone: String?) -> IPAddress {
        IPAddress(family: family, bits: bits, zone: zone)
    }

    /// `0.0.0.0` or `::`.
    static func unspecified(_ family: Family) -> IPAddress { IPAddress(family: family, bits: 0) }

    /// The IPv4 address inside an IPv6 one like `::ffff:192.0.2.1`, or the address itself.
    var unmapped: IPAddress {
        guard family == .ipv6, bits >> 32 == 0xFFFF else { return self }
        return IPAddress(family: .ipv4, bits: bits << 96)
    }

    /// Whether the first `length` bits are those of `other`, in the same family.
    func matches(_ other: IPAddress, first length: Int) -> Bool {
        family == other.family && (bits ^ other.bits) >> (128 - length) == 0
    }
}

extension IPAddress: LosslessStringConvertible {
    /// Reads an address as `inet_pton` does: four decimal numbers with dots, or IPv6's notation, which may end in a zone
    /// (`fe80::1%eth0`).
    public init?(_ description: String) {
        // inet_pton would read up to there.
        guard !description.utf8.contains(0) else { return nil }
        let parts = description.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let text = String(parts[0])
        var v4 = in_addr()
        var v6 = in6_addr()
        if parts.count == 1, inet_pton(AF_INET, text, &v4) == 1 {
            self.init(bytes: withUnsafeBytes(of: &v4) { Array($0) })
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            if parts.count == 2, parts[1].isEmpty { return nil }
            self.init(bytes: withUnsafeBytes(of: &v6) { Array($0) }, zone: parts.count == 2 ? String(parts[1]) : nil)
        } else {
            return nil
        }
    }

    /// The address as `inet_ntop` writes it, with its zone.
    public var description: String {
        let family = family == .ipv4 ? AF_INET : AF_INET6
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            bytes.withUnsafeBytes { bytes in
                inet_ntop(family, bytes.baseAddress, buffer.baseAddress, socklen_t(buffer.count))
                    .map { String(cString: $0) }
            }
        }
        return (text ?? "") + (zone.map { "%" + $0 } ?? "")
    }
}

// MARK: - Scope

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

// MARK: - Addresses of sockets

extension IPAddress {
    /// The address inside a socket's address.
    init?(socketAddress pointer: UnsafePointer<sockaddr>) {
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
        case AF_INET6:
            let address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in6.self)
            let zone = address.sin6_scope_id == 0 ? nil : String(address.sin6_scope_id)
            self.init(bytes: withUnsafeBytes(of: address.sin6_addr) { Array($0) }, zone: zone)
        default:
            return nil
        }
    }
}
