extension NetworkPath {
    /// Whether there is a way to the target.
    public enum Status: Sendable, Hashable {
        /// There is a way out of this machine. Whether the target answers, only a request can tell.
        case satisfied
        /// There is no way.
        case unsatisfied(UnsatisfiedReason)
        /// Nobody can tell. Treat it as if there was a way.
        case unknown(UnknownReason)
    }

    /// Why there is no way to a target. When several reasons hold, the one that is nearest to a working network is named.
    public enum UnsatisfiedReason: Sendable, Hashable {
        /// No interface is switched on, except the loopback one.
        case noInterface
        /// The interface is switched on, but its link does not work: the cable is out, the radio is not connected.
        case noCarrier
        /// The link works, but there is no address yet to send from.
        case noAddress
        /// No route leads to the target.
        case noRoute
        /// A route refuses packets to the target.
        case routeRefused(Refusal)
        /// The system does not let this program use the network. Only Apple's systems tell this.
        case denied
        /// The system gives no reason. Only on Apple's systems.
        case unspecified
    }

    /// How a route refuses packets.
    public enum Refusal: Sendable, Hashable {
        /// They vanish without a word.
        case blackhole
        /// The destination is said to be unreachable.
        case unreachable
        /// It is forbidden to send them.
        case prohibited
    }

    /// Why nobody can tell whether there is a way to a target.
    public enum UnknownReason: Sendable, Hashable {
        /// The system does not tell this process about the network, with this error number: a sandbox forbids it, or
        /// there are no more descriptors.
        case refused(errorNumber: Int32)
        /// The target's name has no address. It was not looked up yet, whatever the network does; or the network is there, but
        /// the name server does not answer or does not know the name.
        case nameNotResolved(String)
        /// There is no way now, but a connection would make one. Only Apple's systems tell this.
        case onDemand
    }
}
