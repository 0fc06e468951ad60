#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension NetworkPath.Status: CustomStringConvertible {
    /// The status in plain words, with its reason.
    public var description: String { reason.map { "\(word): \($0)" } ?? word }

    /// The status without its reason.
    package var word: String {
        switch self {
        case .satisfied: "satisfied"
        case .unsatisfied: "unsatisfied"
        case .unknown: "unknown"
        }
    }

    /// Why there is no way, or why nobody knows.
    package var reason: String? {
        switch self {
        case .satisfied: nil
        case .unsatisfied(let reason): "\(reason)"
        case .unknown(let reason): "\(reason)"
        }
    }
}

extension NetworkPath.UnsatisfiedReason: CustomStringConvertible {
    /// The reason in plain words.
    public var description: String {
        switch self {
        case .noInterface: "no network interface is switched on"
        case .noCarrier: "the network interface has no connection"
        case .noAddress: "the network interface has no address"
        case .noRoute: "no route leads there"
        case .routeRefused(let refusal): "a route refuses packets: \(refusal)"
        case .denied: "the system does not let this program use the network"
        case .unspecified: "the system gives no reason"
        }
    }
}

extension NetworkPath.Refusal: CustomStringConvertible {
    /// The kind of refusal in plain words.
    public var description: String {
        switch self {
        case .blackhole: "they vanish (blackhole)"
        case .unreachable: "the destination is unreachable"
        case .prohibited: "it is forbidden to send them"
        }
    }
}

extension NetworkPath.UnknownReason: CustomStringConvertible {
    /// The reason in plain words.
    public var description: String {
        switch self {
        case .refused(let number): "the system tells nothing about the network (\(String(cString: strerror(number))))"
        case .nameNotResolved(let name): "the name \(name) has no address yet"
        case .onDemand: "a connection would bring the network up"
        }
    }
}
