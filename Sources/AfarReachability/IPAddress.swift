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
