/// Keeps cookies in memory, as long as it lives itself. Every session has one of its own unless its configuration has another.
public final class MemoryCookieStore: CookieStore {
    private let jar: InlineLocked<CookieJar>

    /// Makes an empty store.
    ///
    /// - Parameter limits: How many cookies it keeps. The default is 50 for a domain, and 3,000 in all.
    public init(limits: CookieJar.Limits = .init()) { jar = InlineLocked(CookieJar(limits: limits)) }

    /// Whether there are no cookies.
    public var isEmpty: Bool { jar.withLock { $0.isEmpty } }

    /// All cookies whose time is not over, in no particular order.
    public var all: [Cookie] { jar.withLock { $0.all() } }

    /// The cookies for a request, in the order in which they are sent.
    public func cookies(for url: CookieURL) -> [Cookie] { jar.withLock { $0.cookies(for: url) } }

    /// Takes cookies; one whose time is over removes the one that is there.
    public func store(_ cookies: [Cookie], from url: CookieURL?) {
        jar.withLock { jar in
            for cookie in cookies { jar.store(cookie, from: url) }
        }
    }

    /// Removes the cookies for which the closure returns true.
    public func remove(where shouldRemove: (Cookie) -> Bool) {
        let victims = all.filter(shouldRemove)
        _ = jar.withLock { $0.removeUnchanged(victims) }
    }

    /// Removes all cookies.
    public func removeAll() { jar.withLock { $0.removeAll() } }
}
