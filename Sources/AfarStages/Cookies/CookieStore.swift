public import Foundation

/// A type that stores the cookies of a session, for example in memory or in a file.
///
/// Afar provides ``MemoryCookieStore`` and ``FileCookieStore``. To implement your own store, use a ``CookieJar``, which follows
/// the rules of RFC 6265bis:
///
/// ```swift
/// final class SharedCookies: CookieStore {
///     private let jar = Mutex(CookieJar())
///
///     var isEmpty: Bool { jar.withLock { $0.isEmpty } }
///     var all: [Cookie] { jar.withLock { $0.all() } }
///     func cookies(for url: CookieURL, now: Date) -> [Cookie] { jar.withLock { $0.cookies(for: url, now: now) } }
///     func store(_ cookies: [Cookie], from url: CookieURL?, now: Date) {
///         jar.withLock { jar in for cookie in cookies { jar.store(cookie, from: url, now: now) } }
///     }
///     func remove(where shouldRemove: (Cookie) -> Bool) {
///         let cookies = all.filter(shouldRemove)
///         jar.withLock { jar in jar.remove { cookies.contains($0) } }
///     }
///     func removeAll() { jar.withLock { $0.removeAll() } }
/// }
/// ```
///
/// All methods can be called on any thread, including concurrently. A session looks up cookies before it sends each request, and
/// stores them while it reads a response. The methods must therefore return quickly, without waiting for a disk or a network.
public protocol CookieStore: Sendable {
    /// A Boolean value that indicates whether the store is empty. A session checks this first, for every request.
    var isEmpty: Bool { get }

    /// All cookies that haven't expired, in no particular order.
    var all: [Cookie] { get }

    /// Returns the cookies for a request, in the order in which they are sent (RFC 6265bis, section 5.8.3). Omits cookies that have
    /// expired.
    func cookies(for url: CookieURL, now: Date) -> [Cookie]

    /// Stores cookies. An expired cookie removes the stored cookie with the same identity (RFC 6265bis, section 5.7).
    ///
    /// - Parameters:
    ///   - cookies: Cookies that ``CookieRules`` created from a response's fields, in their order, or that your app created.
    ///   - url: The URL that set the cookies. It is nil for cookies of your app, which can replace any cookie.
    ///   - now: The current date.
    func store(_ cookies: [Cookie], from url: CookieURL?, now: Date)

    /// Removes the cookies for which the closure returns true. The closure can be called more than once for a cookie.
    func remove(where shouldRemove: (Cookie) -> Bool)

    /// Removes all cookies.
    func removeAll()
}

extension CookieStore {
    /// Returns the cookies for a request to a URL, in the order in which they are sent. The result is empty if no request can be
    /// sent to the URL.
    public func cookies(for url: URL) -> [Cookie] { CookieURL(url).map(cookies(for:)) ?? [] }

    /// Returns the cookies for a request at the current date, in the order in which they are sent.
    public func cookies(for url: CookieURL) -> [Cookie] { cookies(for: url, now: Date()) }

    /// Stores a cookie that your app created.
    public func store(_ cookie: Cookie) { store([cookie], from: nil) }

    /// Stores cookies at the current date. See ``store(_:from:now:)``.
    public func store(_ cookies: [Cookie], from url: CookieURL?) { store(cookies, from: url, now: Date()) }
}

/// A cookie store that keeps cookies in memory for its own lifetime.
///
/// Each session creates its own memory store, unless its configuration specifies a different store.
public final class MemoryCookieStore: CookieStore {
    private let jar: InlineLocked<CookieJar>

    /// Creates an empty store.
    ///
    /// - Parameter limits: The maximum numbers of cookies. The default is 50 for each domain and 3,000 in total.
    public init(limits: CookieJar.Limits = .init()) { jar = InlineLocked(CookieJar(limits: limits)) }

    /// A Boolean value that indicates whether the store is empty.
    public var isEmpty: Bool { jar.withLock { $0.isEmpty } }

    /// All cookies that haven't expired, in no particular order.
    public var all: [Cookie] { jar.withLock { $0.all() } }

    /// Returns the cookies for a request, in the order in which they are sent.
    public func cookies(for url: CookieURL, now: Date) -> [Cookie] { jar.withLock { $0.cookies(for: url, now: now) } }

    /// Stores cookies. An expired cookie removes the stored cookie with the same identity.
    public func store(_ cookies: [Cookie], from url: CookieURL?, now: Date) {
        jar.withLock { jar in
            for cookie in cookies { jar.store(cookie, from: url, now: now) }
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
