public import Foundation

/// The known hosts of a store, and the rules about them (RFC 6797, sections 8.1 to 8.3): a value without any I/O, for an
/// ``HSTSStore`` of your own.
public struct HSTSHosts: Sendable {
    /// How many hosts are kept; then those go first that would be forgotten first.
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
        let excess = hosts.count - Self.limit
        guard excess > 0 else { return }
        for host in hosts.values.sorted(by: { $0.expires < $1.expires }).prefix(excess + Self.limit / 32) {
            hosts[host.name] = nil
        }
    }

    /// What is known of a host itself.
    subscript(name: String) -> HSTSHost? { hosts[name] }

    /// Forgets a host.
    public mutating func remove(_ name: String) { hosts[name] = nil }

    /// Forgets all hosts.
    public mutating func removeAll() { hosts = [:] }
}
