#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable {
    /// The protocol version of an address.
    public enum Family: Sendable, Hashable, CaseIterable {
        /// IPv4, with 4 bytes.
        case ipv4
        /// IPv6, with 16 bytes.
        case ipv6

        var bitCount: Int { self == .ipv4 ? 32 : 128 }
    }

    /// The protocol version of this address.
    public let family: Family

    /// The interface of a link-local address, as a name or a number. For example, `eth0` in `fe80::1%eth0`.
    public let zone: String?

    /// The bits of the address, most significant first. An IPv4 address occupies the upper 32 bits.
    let bits: UInt128

    init(family: Family, bits: UInt128, zone: String? = nil) {
        self.family = family
        self.bits = bits
        self.zone = zone
    }

    /// Creates an address from its bytes in network order.
    ///
    /// - Parameters:
    ///   - bytes: 4 bytes for IPv4 or 16 for IPv6. The initializer returns `nil` for any other count.
    ///   - zone: The interface of a link-local address, as a name or a number.
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

    /// The 4 or 16 bytes of the address in network order.
    public var bytes: [UInt8] {
        (0..<family.bitCount / 8).map { UInt8(truncatingIfNeeded: bits >> (120 - 8 * $0)) }
    }

    /// Returns this address with the given interface as its zone.
    public func withZone(_ zone: String?) -> IPAddress {
        IPAddress(family: family, bits: bits, zone: zone)
    }

    /// Returns `0.0.0.0` or `::`.
    static func unspecified(_ family: Family) -> IPAddress { IPAddress(family: family, bits: 0) }

    /// For an IPv4-mapped address such as `::ffff:192.0.2.1`, the embedded IPv4 address. For any other address, this address.
    var unmapped: IPAddress {
        guard family == .ipv6, bits >> 32 == 0xFFFF else { return self }
        return IPAddress(family: .ipv4, bits: bits << 96)
    }

    /// Returns whether both addresses belong to the same family and share their first `length` bits.
    func matches(_ other: IPAddress, first length: Int) -> Bool {
        family == other.family && (bits ^ other.bits) >> (128 - length) == 0
    }
}

extension IPAddress: LosslessStringConvertible {
    /// Creates an address from the notation that `inet_pton` accepts: four decimal numbers separated by dots, or an IPv6
    /// address with an optional zone (`fe80::1%eth0`).
    public init?(_ description: String) {
        // inet_pton stops at a zero byte.
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

    /// The address in the notation of `inet_ntop`, with its zone.
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

extension IPAddress {
    /// The part of the network in which an address is valid.
    public enum Scope: Sendable, Hashable {
        /// The unspecified address, `0.0.0.0` or `::`. A connection to it reaches this machine.
        case unspecified
        /// This machine: `127.0.0.0/8` and `::1`.
        case loopback
        /// The interface's link: `169.254.0.0/16` and `fe80::/10`.
        case linkLocal
        /// A private network: `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16` (RFC 1918), `100.64.0.0/10` (RFC 6598) and
        /// `fc00::/7` (RFC 4193).
        case privateUse
        /// A group of receivers: `224.0.0.0/4` and `ff00::/8`.
        case multicast
        /// All other addresses.
        case global
    }

    /// The scope of this address. An IPv4-mapped address (`::ffff:10.0.0.1`) has the scope of its IPv4 address.
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

    /// Whether a connection to this address stays on the machine regardless of its interfaces.
    var isThisMachine: Bool { scope == .loopback || scope == .unspecified }
}

extension IPAddress {
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
