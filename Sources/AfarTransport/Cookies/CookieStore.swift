public import Foundation

/// Keeps the cookies of a session: in memory, in a file, wherever you want.
///
/// ``MemoryCookieStore`` and ``FileCookieStore`` are there. In a store of your own a ``CookieJar`` does what RFC 6265bis wants:
///
/// ```swift
/// final class SharedCookies: CookieStore {
///     private let jar = Mutex(CookieJar())
///
///     var isEmpty: Bool { jar.withLock { $0.isEmpty } }
///     var all: [Cookie] { jar.withLock { $0.all() } }
///     func cookies(for url: CookieURL) -> [Cookie] { jar.withLock { $0.cookies(for: url) } }
///     func store(_ cookies: [Cookie], from url: CookieURL?) {
///         jar.withLock { jar in for cookie in cookies { jar.store(cookie, from: url) } }
///     }
///     func remove(where shouldRemove: (Cookie) -> Bool) {
///         let cookies = all.filter(shouldRemove)
///         jar.withLock { jar in jar.remove { cookies.contains($0) } }
///     }
///     func removeAll() { jar.withLock { $0.removeAll() } }
/// }
/// ```
///
/// All methods may be called on any thread, several at once. A session asks before each request is sent and stores while a
/// response is read, so they have to be quick: they do not wait for a disk or a network.
public protocol CookieStore: Sendable {
    /// Whether there are no cookies. A session asks this first, for every request.
    var isEmpty: Bool { get }

    /// All cookies whose time is not over, in no particular order.
    var all: [Cookie] { get }

    /// The cookies for a request, in the order in which they are sent (RFC 6265bis, section 5.8.3).
    func cookies(for url: CookieURL) -> [Cookie]

    /// Takes cookies; one whose time is over removes the one that is there (RFC 6265bis, section 5.7).
    ///
    /// - Parameters:
    ///   - cookies: What ``CookieRules`` have made of a response's fields, in their order, or the program itself.
    ///   - url: Where they came from; nil for the program itself, which may set whatever it wants.
    func store(_ cookies: [Cookie], from url: CookieURL?)

    /// Removes the cookies that a closure chooses. It may be called more than once for a cookie.
    func remove(where shouldRemove: (Cookie) -> Bool)

    /// Removes all cookies.
    func removeAll()
}

extension CookieStore {
    /// The cookies for a request to a URL, in the order in which they are sent; none for a URL that no request can be sent to.
    public func cookies(for url: URL) -> [Cookie] { CookieURL(url).map(cookies(for:)) ?? [] }

    /// Takes a cookie of the program's own.
    public func store(_ cookie: Cookie) { store([cookie], from: nil) }
}
