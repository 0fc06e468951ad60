import AfarTransport

/// A resolver, compared by identity.
struct ResolverIdentity: Hashable {
    let resolver: any HostResolver

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.resolver === rhs.resolver }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(resolver)) }
}

/// A host that libcurl looks up for a transfer.
struct LookedUpHost: Sendable {
    let name: String
    let port: Int
    /// The proxy, if this is a proxy's host.
    var proxy: Proxy?

    var isAddress: Bool { SocketAddress.isAddress(name) }

    /// The names by which libcurl caches addresses. Depending on its version, libcurl keeps the dot at the end of a URL's host.
    fileprivate var cacheKeys: [String] { name.contains(":") ? [] : ["\(name):\(port)", "\(name).:\(port)"] }
}

/// The lookups that a resolver performs in place of libcurl.
///
/// libcurl first receives the transfer without addresses, because it may have an idle connection. If libcurl needs a lookup, it
/// ends the transfer instead. Then the resolver looks up the hosts, and libcurl receives the transfer again, with the addresses for
/// its cache. The cache belongs to a pool, and all transfers of a pool have the same resolver. Each transfer removes the addresses
/// of earlier ones, so the resolver determines how long addresses are used. Addresses stay in the cache until the transfer that
/// added them is connected, because libcurl looks up a host behind a SOCKS proxy late. Until then, other transfers can use them.
struct ResolverLookups {
    let resolver: any HostResolver
    /// The resolver's name. It is stored, because the loop must not run user code.
    let resolverName: String
    let hosts: [LookedUpHost]
    private let family: NetworkSettings.AddressFamily
    /// The names by which libcurl caches the addresses of the hosts.
    let cacheKeys: [String]

    init(_ resolver: any HostResolver, _ hosts: [LookedUpHost], _ family: NetworkSettings.AddressFamily) {
        (self.resolver, resolverName, self.hosts, self.family) = (resolver, resolver.name, hosts, family)
        cacheKeys = hosts.flatMap(\.cacheKeys)
    }

    /// Returns the entries that remove earlier addresses from libcurl's cache.
    func removals(except isKept: (String) -> Bool) -> [String] {
        cacheKeys.filter { !isKept($0) }.map { "-" + $0 }
    }

    /// Whether the host that libcurl looks up is an address, so libcurl doesn't need the resolver.
    ///
    /// - Parameter isConnected: Whether a socket has been opened. If so, libcurl looks up the host behind a SOCKS proxy.
    func isAddress(isConnected: Bool) -> Bool { (isConnected ? hosts.last : hosts.first)?.isAddress ?? false }

    /// Returns the entries that add a host's addresses to libcurl's cache. The addresses expire there.
    ///
    /// - Throws: A fault if libcurl can't use any of the addresses.
    func entries(for host: LookedUpHost, _ addresses: [SocketAddress]) throws(Fault) -> [String] {
        let texts = addresses.compactMap { address -> String? in
            guard family == .any || address.isIPv6 == (family == .ipv6) else { return nil }
            return address.numbers.map { address.isIPv6 ? "[\($0.address)]" : $0.address }
        }
        guard !texts.isEmpty else { throw family.noAddress(of: host.name) }
        // libcurl can't parse a zone here.
        let usable = texts.filter { !$0.contains("%") }
        guard !usable.isEmpty else {
            throw Fault(
                .cannotFindHost,
                "all addresses of \(host.name) have a zone, which libcurl doesn't support here: use HTTPTransport")
        }
        return host.cacheKeys.map { "+\($0):\(usable.joined(separator: ","))" }
    }
}

extension SocketAddress {
    fileprivate var isIPv6: Bool { bytes?.count == 16 }
}

/// The running lookups for one transfer. The object belongs to the thread of a loop.
final class TransferLookups: @unchecked Sendable {
    // Sendable because only its loop uses it. Other threads only pass it back to the loop.

    private let lookups: ResolverLookups
    private var entries: [String] = []
    private var running: [Int: HostLookup] = [:]

    init(_ lookups: ResolverLookups) { self.lookups = lookups }

    /// Starts the lookups.
    ///
    /// - Parameter post: Called on any thread with a host's index and addresses, which must be passed to ``receive(_:_:)``.
    /// - Returns: The entries for libcurl if no host needs a lookup; otherwise nil.
    func start(
        _ post: @escaping @Sendable (Int, Result<[SocketAddress], Fault>) -> Void
    ) throws(Fault) -> [String]? {
        for (index, host) in lookups.hosts.enumerated() where !host.isAddress {
            if let addresses = SocketAddress.addressesWithoutLookup(of: host.name) {
                entries += try lookups.entries(for: host, addresses)
            } else {
                running[index] = HostLookup(of: host.name, with: lookups.resolver) { post(index, $0) }
            }
        }
        return running.isEmpty ? entries : nil
    }

    /// Receives the addresses of a host. Returns the entries for libcurl if all lookups have ended; otherwise nil.
    func receive(_ index: Int, _ addresses: Result<[SocketAddress], Fault>) throws(Fault) -> [String]? {
        running[index] = nil
        let host = lookups.hosts[index]
        do throws(Fault) {
            entries += try lookups.entries(for: host, try addresses.get())
        } catch {
            guard let proxy = host.proxy else { throw error }
            throw Fault(
                .proxyFailed, "the proxy \(proxy) cannot be found: \(error.message)", underlying: error.underlying)
        }
        return running.isEmpty ? entries : nil
    }

    func cancel() {
        for lookup in running.values { lookup.cancel() }
        running = [:]
    }
}
