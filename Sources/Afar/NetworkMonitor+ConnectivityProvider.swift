public import AfarCore
public import AfarReachability

/// Provides sessions with the system's network state.
extension NetworkMonitor: ConnectivityProvider {
    /// The connectivity of the current path. It contains the path's status and interface types. Its `identity` is the
    /// path.
    public var connectivity: Connectivity { Connectivity(currentPath) }

    /// Returns the connectivity of each path that the monitor reports.
    public func connectivityUpdates() -> AsyncStream<Connectivity> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let paths = paths
            let task = Task.detached {
                for await path in paths { continuation.yield(Connectivity(path)) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension Connectivity {
    fileprivate init(_ path: NetworkPath) {
        let status: Status =
            switch path.status {
            case .satisfied: .online
            case .unsatisfied: .offline
            case .unknown: .unknown
            }
        self.init(status, interfaceTypes: Set(path.interfaces.map { InterfaceType($0.underlyingKind) }), identity: path)
    }
}

extension Connectivity.InterfaceType {
    fileprivate init(_ kind: NetworkInterface.Kind) {
        switch kind {
        case .wifi: self = .wifi
        case .cellular: self = .cellular
        case .ethernet: self = .wiredEthernet
        case .loopback: self = .loopback
        case .vpn, .bridge, .virtual, .other: self = .other
        }
    }
}
