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
