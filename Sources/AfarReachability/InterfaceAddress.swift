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
