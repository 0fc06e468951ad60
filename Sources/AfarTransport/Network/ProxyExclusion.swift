import Foundation

/// One entry of `no_proxy`.
struct ProxyExclusion {
    private enum Pattern {
        case everything
        case network(NetworkAddress, bits: Int)
        /// A host and its subdomains.
        case domain(String)
    }

    private let pattern: Pattern
    private let port: Int?

    init(_ text: String) {
        let entry = text.trimmingCharacters(in: .whitespaces)
        let slash = entry.lastIndex(of: "/")
        if entry == "*" {
            (pattern, port) = (.everything, nil)
        } else if let slash, let bits = Int(entry[entry.index(after: slash)...]),
            let address = NetworkAddress(HostName(String(entry[..<slash])).text), (0...address.bitCount).contains(bits)
        {
            (pattern, port) = (.network(address, bits: bits), nil)
        } else {
            let isBareAddress = NetworkAddress(entry) != nil
            port = isBareAddress ? nil : HostName.port(ofAuthority: entry)
            let name = HostName(entry).text
            if let address = NetworkAddress(name) {
                pattern = .network(address, bits: address.bitCount)
            } else {
                pattern = .domain(name.hasPrefix("*.") ? String(name.dropFirst(2)) : String(name.trimmingPrefix(".")))
            }
        }
    }

    func covers(_ host: HostName, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        let address = NetworkAddress(host.text)
        switch pattern {
        case .everything: return true
        case .network(let network, let bits): return address.map { network.sharesPrefix(of: bits, with: $0) } ?? false
        case .domain(let name):
            return !name.isEmpty && address == nil && (host.text == name || host.text.hasSuffix("." + name))
        }
    }
}

/// The bytes of an IP address.
private struct NetworkAddress {
    private let bytes: [UInt8]

    /// Returns nil if the text is not an IP address.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes[..<4])
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    var bitCount: Int { bytes.count * 8 }

    /// Whether another address has the same IP version and the same leading bits.
    func sharesPrefix(of count: Int, with other: NetworkAddress) -> Bool {
        guard bytes.count == other.bytes.count, bytes[..<(count / 8)] == other.bytes[..<(count / 8)] else {
            return false
        }
        guard count % 8 > 0 else { return true }
        return (bytes[count / 8] ^ other.bytes[count / 8]) >> (8 - count % 8) == 0
    }
}
