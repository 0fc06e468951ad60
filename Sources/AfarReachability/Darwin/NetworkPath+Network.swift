#if canImport(Network)
    import Darwin
    import Network

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
        /// The default route through a gateway.
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
