/// A network interface, in the state that it had when its ``NetworkPath`` was created.
public struct NetworkInterface: Sendable, Hashable {
    /// The name of the interface, such as `eth0`.
    public let name: String

    /// The system's index of the interface.
    public let index: Int

    /// The kind of this interface. A VLAN, a bond or a similar interface has the kind of its lower interface.
    public let kind: Kind

    /// The kind of the interface that a bridge or a tunnel uses, such as Wi-Fi for a bridge with a wireless port. If
    /// that interface is unknown, this is the same as ``kind``.
    public let underlyingKind: Kind

    /// The usable addresses in the system's order. An address that is being checked for duplicates isn't included.
    public let addresses: [InterfaceAddress]

    /// A Boolean value that indicates whether the interface is up.
    public let isUp: Bool

    /// A Boolean value that indicates whether the link works: the cable leads to an active device, or the radio is
    /// connected.
    public let hasCarrier: Bool

    /// Creates an interface, for example for tests and previews.
    public init(
        name: String, index: Int, kind: Kind, underlyingKind: Kind? = nil, addresses: [InterfaceAddress] = [],
        isUp: Bool = true, hasCarrier: Bool = true
    ) {
        self.name = name
        self.index = index
        self.kind = kind
        self.underlyingKind = underlyingKind ?? kind
        self.addresses = addresses
        self.isUp = isUp
        self.hasCarrier = hasCarrier
    }
}

extension NetworkInterface: CustomStringConvertible {
    /// The name, kind and addresses in one line.
    public var description: String {
        let state = !isUp ? ["down"] : !hasCarrier ? ["no carrier"] : []
        return ([name, "(\(kind))"] + state + addresses.map(\.description)).joined(separator: " ")
    }
}

extension NetworkInterface {
    /// A kind of network interface.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The loopback interface.
        case loopback
        /// A wireless LAN.
        case wifi
        /// A wired network.
        case ethernet
        /// A mobile network. This includes PPP links, because most of them are mobile modems today.
        case cellular
        /// A tunnel such as WireGuard, TUN, IPsec or GRE.
        case vpn
        /// A bridge between interfaces.
        case bridge
        /// An interface implemented in software, such as one end of a pair that leads into a container.
        case virtual
        /// Any other interface.
        case other
    }
}

extension NetworkInterface.Kind: CustomStringConvertible {
    /// The name of the kind for display.
    public var description: String {
        switch self {
        case .wifi: "Wi-Fi"
        case .vpn: "VPN"
        default: rawValue
        }
    }
}

/// An interface's address and the prefix length of its network, such as `192.0.2.7/24`.
public struct InterfaceAddress: Sendable, Hashable, CustomStringConvertible {
    /// The IP address.
    public let address: IPAddress

    /// The number of leading bits that identify the network.
    public let prefixLength: Int

    /// Creates an address with the prefix length of its network.
    public init(_ address: IPAddress, prefixLength: Int) {
        self.address = address
        self.prefixLength = prefixLength
    }

    /// The address, a slash and the prefix length.
    public var description: String { "\(address)/\(prefixLength)" }
}
