/// Whether this machine has a network, and which one: what a ``ConnectivityProvider`` knows at one moment.
public struct Connectivity: Sendable, Hashable {
    /// Whether there is a network.
    public enum Status: Sendable, Hashable {
        /// There is a way out.
        case online
        /// There is none: no interface, no address or no route.
        case offline
        /// It cannot be known, in a sandbox say. It counts as online, so that nothing is held back for want of an answer.
        case unknown
    }

    /// What the traffic goes over.
    public enum InterfaceType: Sendable, Hashable, CaseIterable {
        /// A wireless local network.
        case wifi
        /// A mobile telephone network.
        case cellular
        /// A wired local network.
        case wiredEthernet
        /// This machine itself.
        case loopback
        /// Anything else, a tunnel say.
        case other
    }

    /// Tells one network from another. It says nothing but whether it is equal to another of the same provider.
    public struct Identity: Sendable, Hashable {
        private let value: any Hashable & Sendable

        /// Makes an identity of whatever is equal as long as the network is the same.
        public init(_ value: some Hashable & Sendable) { self.value = value }

        /// Whether two are made of equal values.
        public static func == (lhs: Self, rhs: Self) -> Bool { AnyHashable(lhs.value) == AnyHashable(rhs.value) }

        /// Hashes the value.
        public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
    }

    /// Whether there is a network.
    public var status: Status
    /// The types of the interfaces that lead to it; empty when that is not known.
    public var interfaceTypes: Set<InterfaceType>
    /// Changes with every address of this machine and with its default route. Connections made under another identity are
    /// probably dead.
    public var identity: Identity

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - status: Whether there is a network.
    ///   - interfaceTypes: The types of the interfaces that lead to it. The default is none: they are not known.
    ///   - identity: Anything that changes with every address of this machine and with its default route.
    public init(
        _ status: Status, interfaceTypes: Set<InterfaceType> = [], identity: some Hashable & Sendable
    ) {
        self.status = status
        self.interfaceTypes = interfaceTypes
        self.identity = Identity(identity)
    }

    /// Whether requests may get through: everything but ``Status-swift.enum/offline``.
    public var isOnline: Bool { status != .offline }
}
