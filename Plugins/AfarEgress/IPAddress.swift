import AfarTransport
import Foundation

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) is an IPv4 address, because a socket connects to that
/// address.
struct IPAddress: Hashable {
    /// The 4 or 16 bytes in network order.
    let bytes: [UInt8]

    fileprivate init(bytes: some Collection<UInt8>) {
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        self.bytes = bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : Array(bytes)
    }

    /// Returns nil for a Unix socket.
    init?(_ address: SocketAddress?) {
        guard let bytes = address?.bytes else { return nil }
        self.init(bytes: bytes)
    }

    /// Returns the address for a host's name if no lookup is required. The name can be an address in any form that the system's resolver
    /// accepts. For `localhost` and its subdomains, returns the loopback address (RFC 6761, section 6.3). Returns nil for other names.
    init?(host: String) {
        if host == "localhost" || host.hasSuffix(".localhost") {
            self.init(bytes: [127, 0, 0, 1])
        } else {
            self.init(SocketAddress(host))
        }
    }

    /// The address and the IPv4 addresses inside it, to which a gateway can forward packets.
    var forms: [IPAddress] { [self] + embedded }

    private var embedded: [IPAddress] {
        guard bytes.count == 16 else { return [] }
        if IPNetwork.teredo.contains(self) {
            // The server's address, and the client's address, which is stored with inverted bits (RFC 4380, section 4).
            return [IPAddress(bytes: bytes[4..<8]), IPAddress(bytes: bytes[12...].map { ~$0 })]
        }
        if IPNetwork.sixToFour.contains(self) { return [IPAddress(bytes: bytes[2..<6])] }
        // ISATAP (RFC 5214, section 6.1)
        let isISATAP = bytes[8] & 0xFD == 0 && bytes[9..<12].elementsEqual([0, 0x5E, 0xFE])
        let hasSuffix = [IPNetwork.nat64, .localNAT64, .compatible].contains { $0.contains(self) }
        return isISATAP || hasSuffix ? [IPAddress(bytes: bytes[12...])] : []
    }
}

extension IPAddress: CustomStringConvertible {
    var description: String {
        guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The addresses that share their leading bits.
struct IPNetwork: Hashable {
    /// The prefix for NAT64 (RFC 6052, section 2.1).
    static let nat64 = IPNetwork([0, 0x64, 0xFF, 0x9B], 96)
    /// The prefix for NAT64 within a network (RFC 8215).
    static let localNAT64 = IPNetwork([0, 0x64, 0xFF, 0x9B, 0, 1], 48)
    /// IPv4-compatible addresses (RFC 4291, section 2.5.5.1).
    static let compatible = IPNetwork([], 96)
    /// The prefix for 6to4 (RFC 3056, section 2).
    static let sixToFour = IPNetwork([0x20, 0x02], 16)
    /// The prefix for Teredo (RFC 4380, section 4).
    static let teredo = IPNetwork([0x20, 0x01], 32)
    /// Allocated addresses (RFC 4291, section 2.5.4).
    static let globalUnicast = IPNetwork([0x20], 3)

    private let bytes: [UInt8]
    private let bitCount: Int

    /// Creates an IPv6 network. The remaining bytes are 0.
    private init(_ start: [UInt8], _ bitCount: Int) {
        bytes = start + Array(repeating: 0, count: 16 - start.count)
        self.bitCount = bitCount
    }

    /// Parses an address with an optional prefix length, such as `10.0.0.0/8`. Returns nil if the text is invalid.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let written = Self.bytes(of: String(parts[0])), parts.count <= 2 else { return nil }
        bytes = IPAddress(bytes: written).bytes
        // A network of IPv4-mapped addresses is stored as the equivalent IPv4 network.
        let omitted = (written.count - bytes.count) * 8
        let count = parts.count == 1 ? bytes.count * 8 : Int(parts[1]).map { $0 - omitted }
        guard let count, (0...bytes.count * 8).contains(count) else { return nil }
        bitCount = count
    }

    /// Returns nil for unusual forms of addresses, because they are probably mistakes: `10.1`, `010.0.0.1`.
    private static func bytes(of text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard !text.utf8.contains(0) else { return nil }
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes[..<4]) }
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    func contains(_ address: IPAddress) -> Bool {
        let (whole, rest) = (bitCount / 8, bitCount % 8)
        guard address.bytes.count == bytes.count, address.bytes[..<whole] == bytes[..<whole] else { return false }
        return rest == 0 || (address.bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0
    }

    /// Whether the network consists of one address.
    var isSingle: Bool { bitCount == bytes.count * 8 }
}
