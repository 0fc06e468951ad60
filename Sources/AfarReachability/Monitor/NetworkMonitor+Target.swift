extension NetworkMonitor {
    /// What a monitor watches the way to.
    public enum Target: Sendable, Hashable {
        /// The internet: a default route, of IPv4 or IPv6.
        case internet
        /// A host, by name or address. The name is looked up when the monitor begins, and again when the network changes.
        case host(String)
        /// An address. This machine's own are always reached.
        case address(IPAddress)

        /// The address that the target is, if it is one: also when a host is written as an address, in brackets or not, and
        /// for `localhost` (RFC 6761, section 6.3).
        var address: IPAddress? {
            switch self {
            case .internet:
                return nil
            case .address(let address):
                return address.unmapped
            case .host(let name):
                let host = name.lowercased()
                if host == "localhost" || host.hasSuffix(".localhost") { return IPAddress("127.0.0.1") }
                let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
                return IPAddress(isBracketed ? String(name.dropFirst().dropLast()) : name)?.unmapped
            }
        }

        /// The name that has to be looked up.
        var name: String? {
            if case .host(let name) = self, address == nil { name } else { nil }
        }
    }
}
