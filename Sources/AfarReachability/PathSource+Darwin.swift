#if canImport(Network)
    import Darwin
    import Dispatch
    import Network

    /// Reports the paths of the system's own monitor between ``start()`` and ``stop()``. Each instance runs only once.
    ///
    /// The system only evaluates the path to the internet. This path is used for every target except this machine.
    final class PathSource: Sendable {
        typealias Handler = NetworkMonitor.Handler

        private struct State {
            var pending: NetworkPath?
            var isStopped = false
        }

        private let target: PathTarget
        private let debounce: Duration
        private let deliver: Handler
        private let monitor = NWPathMonitor()
        private let queue = DispatchQueue(label: "afar-network")
        private let state = Locked(State())

        init(target: PathTarget, debounce: Duration, receiveBuffer: Int32?, deliver: @escaping Handler) {
            self.target = target
            self.debounce = debounce
            self.deliver = deliver
        }

        /// Starts monitoring and returns the first path.
        func start() -> NetworkPath {
            if let path = target.pathToThisMachine { return path }
            return monitor.startAndWait(on: queue) { [weak self] path in self?.schedule(path) }
        }

        /// Stops monitoring. A path that is being delivered at that moment can still arrive.
        func stop() {
            state.withLock { $0.isStopped = true }
            monitor.cancel()
        }

        private func schedule(_ path: NetworkPath) {
            let isFirst = state.withLock { state in
                defer { state.pending = path }
                return state.pending == nil
            }
            guard isFirst else { return }
            let delay = DispatchTimeInterval.nanoseconds(Int(debounce / .nanoseconds(1)))
            queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.deliverPending() }
        }

        private func deliverPending() {
            let path: NetworkPath? = state.withLock { state in
                defer { state.pending = nil }
                return state.isStopped ? nil : state.pending
            }
            if let path { deliver(path) }
        }
    }

    extension NWPathMonitor {
        /// Starts the monitor and waits for its first path, because no path is available until then. This takes far less than one second.
        fileprivate func startAndWait(
            on queue: DispatchQueue, _ update: @escaping @Sendable (NetworkPath) -> Void
        ) -> NetworkPath {
            let first = Locked<NetworkPath?>(nil)
            let hasArrived = DispatchSemaphore(value: 0)
            pathUpdateHandler = { path in
                let path = NetworkPath(path)
                first.withLock { $0 = $0 ?? path }
                hasArrived.signal()
                update(path)
            }
            start(queue: queue)
            _ = hasArrived.wait(timeout: .now() + 1)
            return first.withLock { $0 } ?? NetworkPath(currentPath)
        }
    }

    extension PathTarget {
        func currentPath() -> NetworkPath {
            if let path = pathToThisMachine { return path }
            let monitor = NWPathMonitor()
            defer { monitor.cancel() }
            return monitor.startAndWait(on: DispatchQueue(label: "afar-network")) { _ in }
        }

        /// The path if the target is this machine.
        fileprivate var pathToThisMachine: NetworkPath? {
            guard let address = target.address, address.isThisMachine else { return nil }
            return NetworkPath(
                status: .satisfied, supportsIPv4: address.family == .ipv4, supportsIPv6: address.family == .ipv6)
        }
    }

    extension NetworkPath {
        init(_ path: NWPath) {
            let isSatisfied = path.status == .satisfied
            self.init(
                status: Status(path),
                interfaces: isSatisfied ? path.availableInterfaces.map { NetworkInterface($0) } : [],
                routes: isSatisfied ? path.gateways.compactMap { NetworkRoute(gateway: $0) } : [],
                supportsIPv4: path.supportsIPv4,
                supportsIPv6: path.supportsIPv6
            )
        }
    }

    extension NetworkPath.Status {
        fileprivate init(_ path: NWPath) {
            switch path.status {
            case .satisfied: self = .satisfied
            case .requiresConnection: self = .unknown(.onDemand)
            case .unsatisfied:
                switch path.unsatisfiedReason {
                case .cellularDenied, .wifiDenied, .localNetworkDenied: self = .unsatisfied(.denied)
                default: self = .unsatisfied(.unspecified)
                }
            @unknown default: self = .unsatisfied(.unspecified)
            }
        }
    }

    extension NetworkInterface {
        fileprivate init(_ interface: NWInterface) {
            let kind: Kind =
                switch interface.type {
                case .wifi: .wifi
                case .cellular: .cellular
                case .wiredEthernet: .ethernet
                case .loopback: .loopback
                default: Self.kind(named: interface.name)
                }
            self.init(
                name: interface.name, index: interface.index, kind: kind, addresses: Self.addresses(of: interface.name))
        }

        private static func kind(named name: String) -> Kind {
            if ["utun", "ipsec", "ppp", "gif", "stf"].contains(where: name.hasPrefix) { return .vpn }
            return name.hasPrefix("bridge") ? .bridge : .other
        }

        private static func addresses(of name: String) -> [InterfaceAddress] {
            var list: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&list) == 0 else { return [] }
            defer { freeifaddrs(list) }
            var addresses: [InterfaceAddress] = []
            var next = list
            while let entry = next?.pointee {
                next = entry.ifa_next
                guard String(cString: entry.ifa_name) == name, let pointer = entry.ifa_addr,
                    let address = IPAddress(socketAddress: pointer)
                else { continue }
                let mask = entry.ifa_netmask.flatMap { IPAddress(socketAddress: $0) }
                let length = mask?.bits.nonzeroBitCount ?? address.family.bitCount
                addresses.append(InterfaceAddress(address.withZone(nil), prefixLength: length))
            }
            return addresses
        }
    }

    extension NetworkRoute {
        /// Creates the default route through a gateway.
        fileprivate init?(gateway: NWEndpoint) {
            guard case .hostPort(let host, _) = gateway else { return nil }
            let address: IPAddress? =
                switch host {
                case .ipv4(let address): IPAddress(bytes: address.rawValue)
                case .ipv6(let address): IPAddress(bytes: address.rawValue, zone: address.interface?.name)
                default: nil
                }
            guard let address else { return nil }
            let name: String? =
                switch host {
                case .ipv4(let address): address.interface?.name
                case .ipv6(let address): address.interface?.name
                default: nil
                }
            self.init(
                destination: .unspecified(address.family), prefixLength: 0, gateway: address, interface: name)
        }
    }
#endif
