public import Foundation

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
