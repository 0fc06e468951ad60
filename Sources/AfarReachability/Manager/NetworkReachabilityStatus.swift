extension NetworkReachabilityManager {
    /// Whether a network is there.
    public enum NetworkReachabilityStatus: Sendable, Hashable {
        /// Nobody can tell: see ``NetworkPath/UnknownReason``.
        case unknown
        /// There is no network.
        case notReachable
        /// There is one, over this kind of connection.
        case reachable(ConnectionType)

        /// Over what the network is reached.
        public enum ConnectionType: Sendable, Hashable {
            /// Anything that is no mobile network: a cable, a wireless LAN, this machine itself.
            case ethernetOrWiFi
            /// A mobile network.
            case cellular

            /// A mobile network, by the name that Alamofire 4 gave it.
            public static var wwan: ConnectionType { .cellular }
        }

        /// The status that a path stands for.
        public init(_ path: NetworkPath) {
            switch path.status {
            case .satisfied: self = .reachable(ConnectionType(path))
            case .unsatisfied: self = .notReachable
            case .unknown: self = .unknown
            }
        }
    }
}

extension NetworkReachabilityManager.NetworkReachabilityStatus.ConnectionType {
    /// A tunnel counts as what it runs over: what lies below it, or else the next best interface.
    fileprivate init(_ path: NetworkPath) {
        let interface = path.interfaces.first { $0.underlyingKind != .vpn } ?? path.primaryInterface
        self = interface?.underlyingKind == .cellular ? .cellular : .ethernetOrWiFi
    }
}
