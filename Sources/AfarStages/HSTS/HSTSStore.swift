public import Foundation

/// A type that stores the hosts that require https (RFC 6797).
///
/// Afar provides ``MemoryHSTSStore`` and ``FileHSTSStore``. To implement your own store, use ``HSTSHosts``, which contains the
/// rules. All methods can be called on any thread, several at once. They must return quickly, without waiting for a disk or a
/// network.
public protocol HSTSStore: Sendable {
    /// All hosts that haven't expired, in no particular order.
    var all: [HSTSHost] { get }

    /// Returns whether a host requires https, either directly or because of a host above it.
    ///
    /// - Parameter host: A name in lowercase, without a port.
    func contains(_ host: String) -> Bool

    /// Stores a host, and replaces the stored one. An expired host removes the stored one.
    func store(_ host: HSTSHost)

    /// Removes all hosts.
    func removeAll()
}

/// An HSTS store that keeps hosts in memory for its own lifetime.
public final class MemoryHSTSStore: HSTSStore {
    private let hosts = InlineLocked(HSTSHosts())

    /// Creates an empty store.
    public init() {}

    /// All hosts that haven't expired, in no particular order.
    public var all: [HSTSHost] { hosts.withLock { $0.all() } }

    /// Returns whether a host requires https.
    public func contains(_ host: String) -> Bool { hosts.withLock { $0.contains(host) } }

    /// Stores a host. An expired host removes the stored one.
    public func store(_ host: HSTSHost) { hosts.withLock { $0.store(host) } }

    /// Removes all hosts.
    public func removeAll() { hosts.withLock { $0.removeAll() } }
}

/// A host that requires https (RFC 6797, section 5.3).
public struct HSTSHost: Sendable, Hashable {
    /// The name in lowercase.
    public let name: String
    /// A Boolean value that indicates whether all hosts below this one require https, too.
    public let includesSubdomains: Bool
    /// The date when the requirement expires.
    public let expires: Date

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - name: The name, without a port.
    ///   - includesSubdomains: Whether all hosts below this one require https, too. The default is false.
    ///   - expires: The date when the requirement expires. The default is `.distantFuture`: never.
    /// - Returns: Nil if the name is invalid or is an IP address.
    public init?(name: String, includesSubdomains: Bool = false, expires: Date = .distantFuture) {
        guard let domain = CookieDomain(name), !domain.isAddress else { return nil }
        self.init(domain: domain.text, includesSubdomains: includesSubdomains, expires: expires)
    }

    init(domain: String, includesSubdomains: Bool, expires: Date) {
        (name, self.includesSubdomains, self.expires) = (domain, includesSubdomains, expires)
    }

    /// Returns whether the requirement has expired.
    ///
    /// - Parameter date: The date to compare with. The default is the current date.
    public func isExpired(at date: Date = Date()) -> Bool { expires <= date }
}

/// The known hosts of a store, and the rules for them (RFC 6797, sections 8.1 to 8.3).
///
/// This is a value that performs no I/O. Use it to implement your own ``HSTSStore``.
public struct HSTSHosts: Sendable {
    /// The maximum number of hosts. Above it, expired hosts are removed, then the excess of sites that use more than an eighth of
    /// the limit, then the hosts that expire first.
    public static let limit = 10_000

    private var hosts: [String: HSTSHost] = [:]

    /// Creates an empty value.
    public init() {}

    /// A Boolean value that indicates whether there are no hosts.
    public var isEmpty: Bool { hosts.isEmpty }

    /// Returns all hosts that haven't expired.
    public func all(now: Date = Date()) -> [HSTSHost] { hosts.values.filter { !$0.isExpired(at: now) } }

    /// Returns whether a host requires https: the host is known, or a known host above it includes its subdomains (section 8.2).
    ///
    /// - Parameters:
    ///   - host: A name in lowercase, without a port.
    ///   - now: The current date.
    public func contains(_ host: String, now: Date = Date()) -> Bool {
        guard !isEmpty else { return false }
        // A trailing dot, which stands for the DNS root, doesn't make it a different host.
        let domain = CookieDomain(host: host.hasSuffix(".") ? String(host.dropLast()) : host)
        guard !domain.isAddress else { return false }
        return domain.matchingDomains.contains { name in
            guard let known = hosts[String(name)], !known.isExpired(at: now) else { return false }
            return known.includesSubdomains || name.utf8.count == domain.text.utf8.count
        }
    }

    /// Stores a host, and replaces the stored one. An expired host removes the stored one.
    public mutating func store(_ host: HSTSHost, now: Date = Date()) {
        hosts[host.name] = host.isExpired(at: now) ? nil : host
        guard hosts.count > Self.limit else { return }
        hosts = hosts.filter { !$0.value.isExpired(at: now) }
        let sites = Dictionary(grouping: hosts.values) { CookieDomain.site(of: $0.name) }
        for hosts in sites.values where hosts.count > Self.limit / 8 { forget(hosts.count - Self.limit / 8, of: hosts) }
        if hosts.count > Self.limit { forget(hosts.count - Self.limit + Self.limit / 32, of: hosts.values) }
    }

    private mutating func forget(_ count: Int, of known: some Collection<HSTSHost>) {
        for host in known.sorted(by: { $0.expires < $1.expires }).prefix(count) { hosts[host.name] = nil }
    }

    /// Returns whether storing a host would change nothing: an equal entry exists, and the remaining lifetimes differ by 1% at
    /// most.
    func containsEqual(_ host: HSTSHost, now: Date = Date()) -> Bool {
        guard let known = hosts[host.name] else { return host.isExpired(at: now) }
        return known.includesSubdomains == host.includesSubdomains
            && abs(host.expires.timeIntervalSince(known.expires)) <= host.expires.timeIntervalSince(now) / 100
    }

    /// The entry for exactly this host.
    subscript(name: String) -> HSTSHost? { hosts[name] }

    /// Removes a host.
    public mutating func remove(_ name: String) { hosts[name] = nil }

    /// Removes all hosts.
    public mutating func removeAll() { hosts = [:] }
}
