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

/// Knows the names under which anybody can register names: `com`, `co.uk`, `github.io`. No cookie is for all of such a name.
///
/// It is asked while a response is read, so it is quick, and may be asked on any thread.
public protocol PublicSuffixList: Sendable {
    /// Whether a name is a public suffix.
    ///
    /// - Parameter domain: In lower case, ASCII (Punycode for what is not), without a dot in front or at the end.
    func isPublicSuffix(_ domain: String) -> Bool
}

/// What is known without a list: a name without a dot is a public suffix.
package struct TopLevelSuffixes: PublicSuffixList {
    package init() {}

    package func isPublicSuffix(_ domain: String) -> Bool { !domain.utf8.contains(UInt8(ascii: ".")) }
}

extension PublicSuffixList {
    /// Whether two hosts are of one site: they are the same, or the same name right below a public suffix is in both.
    package func areSameSite(_ host: CookieDomain, _ other: CookieDomain) -> Bool {
        guard host != other else { return true }
        guard !host.isAddress, !other.isAddress, let site = registrableDomain(of: host) else { return false }
        return site == registrableDomain(of: other)
    }

    private func registrableDomain(of host: CookieDomain) -> String? {
        var registrable: String?
        for domain in host.matchingDomains.map(String.init) {
            if isPublicSuffix(domain) { return registrable }
            registrable = domain
        }
        return registrable
    }
}
