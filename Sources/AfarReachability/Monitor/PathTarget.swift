/// A target with the addresses that its name has by now.
final class PathTarget: Sendable {
    let target: NetworkMonitor.Target
    /// Looks up the name; nil where there is none.
    let resolver: HostResolver?

    init(_ target: NetworkMonitor.Target) {
        self.target = target
        resolver = target.name.map { HostResolver(name: $0) }
    }

    /// Where packets are to go. As long as a name has no address, the internet stands for it.
    var destinations: [Destination] {
        if let address = target.address { return [.address(address)] }
        let addresses = resolver?.addresses ?? []
        return addresses.isEmpty ? Destination.internet : addresses.map { .address($0) }
    }

    /// The path to destinations that were taken from here.
    func path(to destinations: [Destination], in table: NetworkTable) -> NetworkPath {
        let path = table.path(to: destinations)
        guard let name = target.name, destinations == Destination.internet else { return path }
        // Before the name was looked up nothing is known: it may be this machine's own. Afterwards, when the network is there,
        // that a name server is silent or does not know the name is not the network's fault.
        guard resolver?.addresses != [] || path.status == .satisfied else { return path }
        return NetworkPath(
            status: .unknown(.nameNotResolved(name)), interfaces: path.interfaces, routes: path.routes,
            supportsIPv4: path.supportsIPv4, supportsIPv6: path.supportsIPv6
        )
    }
}
