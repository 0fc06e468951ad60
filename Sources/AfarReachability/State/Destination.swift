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
