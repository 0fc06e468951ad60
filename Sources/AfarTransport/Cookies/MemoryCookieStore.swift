/// Keeps cookies in memory, as long as it lives itself. Every session has one of its own unless its configuration has another.
public final class MemoryCookieStore: CookieStore {
    private let jar: InlineLocked<CookieJar>

    /// Makes an empty store.
    ///
    /// - Parameter limits: How many cookies it keeps. The default is 50 for a domain, and 3,000 in all.
    public init(limits: CookieJar.Limits = .init()) { jar = InlineLocked(CookieJar(limits: limits)) }

    public var isEmpty: Bool { jar.withLock { $0.isEmpty } }

    public var all: [Cookie] { jar.withLock { $0.all() } }

    public func cookies(for url: CookieURL) -> [Cookie] { jar.withLock { $0.cookies(for: url) } }

    public func store(_ cookies: [Cookie], from url: CookieURL?) {
        jar.withLock { jar in
            for cookie in cookies { jar.store(cookie, from: url) }
        }
    }

    public func remove(where shouldRemove: (Cookie) -> Bool) {
        let identities = Set(all.filter(shouldRemove).map(\.identity))
        jar.withLock { $0.remove(identities) }
    }

    public func removeAll() { jar.withLock { $0.removeAll() } }
}
