/// A network interface, as it was when its ``NetworkPath`` was made.
public struct NetworkInterface: Sendable, Hashable {
    /// The name, such as `eth0`.
    public let name: String

    /// The system's number for the interface.
    public let index: Int

    /// What the interface is itself. One that only divides or joins others of one kind (a VLAN, a bond) counts as they do.
    public let kind: Kind

    /// What a bridge or a tunnel runs over, where the system tells: Wi-Fi below a bridge that has a wireless port. Otherwise
    /// the same as ``kind``.
    public let underlyingKind: Kind

    /// The addresses that can be used, in the system's order. One that is still checked for duplicates is not among them.
    public let addresses: [InterfaceAddress]

    /// Whether the interface is switched on.
    public let isUp: Bool

    /// Whether the link works: a cable with somebody at its other end, a radio that is connected.
    public let hasCarrier: Bool

    /// Makes an interface, for tests and previews for instance.
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
    /// The name, the kind and the addresses in one line.
    public var description: String {
        let state = !isUp ? ["down"] : !hasCarrier ? ["no carrier"] : []
        return ([name, "(\(kind))"] + state + addresses.map(\.description)).joined(separator: " ")
    }
}

// MARK: - Kinds

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

// MARK: - Addresses

/// An address of an interface with the length of its network's prefix, such as `192.0.2.7/24`.
public struct InterfaceAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address.
    public let address: IPAddress

    /// How many bits of the address name the network.
    public let prefixLength: Int

    /// Makes an address with its network's prefix.
    public init(_ address: IPAddress, prefixLength: Int) {
        self.address = address
        self.prefixLength = prefixLength
    }

    /// The address, a slash, and the prefix's length.
    public var description: String { "\(address)/\(prefixLength)" }
}
