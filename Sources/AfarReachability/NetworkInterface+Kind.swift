extension NetworkInterface {
    /// What an interface is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The machine itself.
        case loopback
        /// Wireless LAN.
        case wifi
        /// A cable.
        case ethernet
        /// A mobile network's modem. A link of the protocol PPP counts as one, because those who dial today are modems.
        case cellular
        /// A tunnel: WireGuard, TUN, IPsec, GRE and their like.
        case vpn
        /// A bridge between interfaces.
        case bridge
        /// Made of software only: one end of a pair into a container, for instance.
        case virtual
        /// Anything else.
        case other
    }
}

extension NetworkInterface.Kind: CustomStringConvertible {
    /// The kind in a word or two.
    public var description: String {
        switch self {
        case .wifi: "Wi-Fi"
        case .vpn: "VPN"
        default: rawValue
        }
    }
}
