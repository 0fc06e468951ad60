public import Foundation

/// Knows the hosts that want to be reached by https only (RFC 6797).
///
/// ``MemoryHSTSStore`` and ``FileHSTSStore`` are there. In a store of your own ``HSTSHosts`` has the rules. All methods may be called
/// on any thread, several at once, and have to be quick: they do not wait for a disk or a network.
public protocol HSTSStore: Sendable {
    /// All hosts that are not forgotten, in no particular order.
    var all: [HSTSHost] { get }

    /// Whether a host wants to be reached by https only, by itself or because of one above it.
    ///
    /// - Parameter host: A name in lower case, without port.
    func contains(_ host: String) -> Bool

    /// Takes a host, in place of what is known of it; one whose time is over is forgotten.
    func store(_ host: HSTSHost)

    /// Forgets all hosts.
    func removeAll()
}

/// Keeps the hosts that want https in memory, as long as it lives itself.
public final class MemoryHSTSStore: HSTSStore {
    private let hosts = InlineLocked(HSTSHosts())

    /// Makes an empty store.
    public init() {}

    /// The hosts that are remembered, in no particular order.
    public var all: [HSTSHost] { hosts.withLock { $0.all() } }

    /// Whether a host wants to be reached by https only.
    public func contains(_ host: String) -> Bool { hosts.withLock { $0.contains(host) } }

    /// Remembers a host; one whose time is over is forgotten.
    public func store(_ host: HSTSHost) { hosts.withLock { $0.store(host) } }

    /// Forgets all hosts.
    public func removeAll() { hosts.withLock { $0.removeAll() } }
}

/// A host that wants to be reached by https only (RFC 6797, section 5.3).
public struct HSTSHost: Sendable, Hashable {
    /// Its name, in lower case.
    public let name: String
    /// Whether all hosts below it want that, too.
    public let includesSubdomains: Bool
    /// When it is forgotten.
    public let expires: Date

    /// Makes a host.
    ///
    /// - Parameters:
    ///   - name: Its name, without port.
    ///   - includesSubdomains: Whether it speaks for all hosts below it. The default is false.
    ///   - expires: When it is forgotten. The default is never.
    /// - Returns: Nil for what is no name, an address say.
    public init?(name: String, includesSubdomains: Bool = false, expires: Date = .distantFuture) {
        guard let domain = CookieDomain(name), !domain.isAddress else { return nil }
        self.init(domain: domain.text, includesSubdomains: includesSubdomains, expires: expires)
    }

    init(domain: String, includesSubdomains: Bool, expires: Date) {
        (name, self.includesSubdomains, self.expires) = (domain, includesSubdomains, expires)
    }

    /// Whether it is forgotten.
    ///
    /// - Parameter date: The time to look at. The default is now.
    public func isExpired(at date: Date = Date()) -> Bool { expires <= date }
}

/// The known hosts of a store, and the rules about them (RFC 6797, sections 8.1 to 8.3): a value without any I/O, for an
/// ``HSTSStore`` of your own.
public struct HSTSHosts: Sendable {
    /// How many hosts are kept; then those of a site that has more than an eighth go first, and those that would be forgotten
    /// first.
    public static let limit = 10_000

    private var hosts: [String: HSTSHost] = [:]

    /// No hosts.
    public init() {}

    /// Whether there are none.
    public var isEmpty: Bool { hosts.isEmpty }

    /// All that are not forgotten.
    public func all(now: Date = Date()) -> [HSTSHost] { hosts.values.filter { !$0.isExpired(at: now) } }

    /// Whether a host wants to be reached by https only: it is known itself, or one above it that speaks for it (section 8.2).
    ///
    /// - Parameters:
    ///   - host: A name in lower case, without port.
    ///   - now: The time.
    public func contains(_ host: String, now: Date = Date()) -> Bool {
        guard !isEmpty else { return false }
        // The root's dot makes no other host of it.
        let domain = CookieDomain(host: host.hasSuffix(".") ? String(host.dropLast()) : host)
        guard !domain.isAddress else { return false }
        return domain.matchingDomains.contains { name in
            guard let known = hosts[String(name)], !known.isExpired(at: now) else { return false }
            return known.includesSubdomains || name.utf8.count == domain.text.utf8.count
        }
    }

    /// Takes a host, in place of what is known of it; one whose time is over is forgotten.
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

    /// Whether nothing new is said of a host: it is known, and to be forgotten at about the same time, to one part in a hundred.
    func knows(_ host: HSTSHost, now: Date = Date()) -> Bool {
        guard let known = hosts[host.name] else { return host.isExpired(at: now) }
        return known.includesSubdomains == host.includesSubdomains
            && abs(host.expires.timeIntervalSince(known.expires)) <= host.expires.timeIntervalSince(now) / 100
    }

    /// What is known of a host itself.
    subscript(name: String) -> HSTSHost? { hosts[name] }

    /// Forgets a host.
    public mutating func remove(_ name: String) { hosts[name] = nil }

    /// Forgets all hosts.
    public mutating func removeAll() { hosts = [:] }
}
