public import Foundation

/// The cookies of a store, and the rules for storing and sending them (RFC 6265bis, sections 5.7 and 5.8).
///
/// A jar is a value that performs no I/O. Use it to implement your own ``CookieStore``.
///
/// Cookies are looked up by domain, so the cookies of other sites add no cost to a request.
public struct CookieJar: Sendable {
    /// The maximum numbers of cookies.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of cookies for each domain. Values less than 1 count as 1. The default is 50.
        public var perDomain: Int
        /// The maximum number of cookies in total. Values less than 1 count as 1. The default is 3,000.
        public var total: Int

        /// Creates limits.
        public init(perDomain: Int = 50, total: Int = 3_000) { (self.perDomain, self.total) = (perDomain, total) }
    }

    private let limits: Limits
    private var domains: [String: [Cookie]] = [:]
    /// The number of cookies, including expired cookies that haven't been removed yet.
    public private(set) var count = 0

    /// Creates an empty jar.
    public init(limits: Limits = Limits()) {
        self.limits = Limits(perDomain: max(1, limits.perDomain), total: max(1, limits.total))
    }

    /// A Boolean value that indicates whether the jar is empty.
    public var isEmpty: Bool { count == 0 }

    // MARK: Sending

    /// Returns the cookies for a request in the order in which they are sent: longer paths first, then earlier creation dates
    /// (section 5.8.3). Updates their ``Cookie/lastAccessDate``.
    public mutating func cookies(for url: CookieURL, now: Date = Date()) -> [Cookie] {
        guard !isEmpty else { return [] }
        var found: [Cookie] = []
        for domain in url.domain.matchingDomains.map(String.init) {
            guard let index = domains.index(forKey: domain) else { continue }
            for position in domains.values[index].indices {
                let cookie = domains.values[index][position]
                guard !cookie.isExpired(at: now), !cookie.isHostOnly || domain == url.host,
                    url.isSecure || !cookie.isSecure, url.matches(path: cookie.path)
                else { continue }
                domains.values[index][position].lastAccessDate = now
                found.append(domains.values[index][position])
            }
        }
        guard found.count > 1 else { return found }
        return found.sorted { first, second in
            let (length, other) = (first.path.utf8.count, second.path.utf8.count)
            return length == other ? first.creationDate < second.creationDate : length > other
        }
    }

    /// Returns all cookies that haven't expired.
    public func all(now: Date = Date()) -> [Cookie] {
        domains.values.flatMap { $0.filter { !$0.isExpired(at: now) } }
    }

    // MARK: Storing

    /// Stores a cookie. An expired cookie removes the stored cookie with the same identity.
    ///
    /// - Parameters:
    ///   - cookie: A cookie that ``CookieRules`` created from a field, or that your app created.
    ///   - url: The URL that set the cookie. Pass nil for a cookie of your app, which can replace any cookie.
    ///   - now: The current date.
    /// - Returns: Whether the jar's cookies changed. A slightly different expiration date doesn't count as a change.
    @discardableResult
    public mutating func store(_ cookie: Cookie, from url: CookieURL? = nil, now: Date = Date()) -> Bool {
        if let url, !url.isSecure, !cookie.isSecure, coversSecureCookie(cookie, now: now) { return false }
        var cookies = domains[cookie.domain] ?? []
        let before = cookies.count
        cookies.removeAll { $0.isExpired(at: now) }
        var new = cookie
        let position = cookies.firstIndex { $0.identity == cookie.identity }
        let old = position.map { cookies.remove(at: $0) }
        let isChanged = old.map { !$0.isSame(as: cookie, now: now) } ?? !cookie.isExpired(at: now)
        if let old {
            new.creationDate = old.creationDate
            if !isChanged { new = old }
        }
        new.lastAccessDate = now
        if !new.isExpired(at: now) { cookies.append(new) }
        Self.evict(&cookies, downTo: limits.perDomain)
        count += cookies.count - before
        domains[cookie.domain] = cookies.isEmpty ? nil : cookies
        if count > limits.total { evict(now: now) }
        return isChanged
    }

    /// Returns whether a cookie would hide a stored secure cookie. A cookie from a URL without TLS must not do this, because
    /// there is no proof that the cookie comes from its server ("leave secure cookies alone", section 5.7).
    private func coversSecureCookie(_ cookie: Cookie, now: Date) -> Bool {
        let domain = CookieDomain(host: cookie.domain)
        func isCovered(_ other: Cookie) -> Bool {
            other.isSecure && other.name == cookie.name && CookieURL.path(cookie.path, matches: other.path)
                && !other.isExpired(at: now)
        }
        for above in domain.matchingDomains where domains[String(above)]?.contains(where: isCovered) == true {
            return true
        }
        // Finding the domains below this one requires comparing all names.
        return domains.contains { name, cookies in
            name.utf8.count > cookie.domain.utf8.count && CookieDomain(host: name).matches(cookie.domain)
                && cookies.contains(where: isCovered)
        }
    }

    /// Replaces all cookies, including their dates.
    mutating func replaceAll(with cookies: [Cookie], now: Date) {
        removeAll()
        var latest: [Cookie.Identity: Cookie] = [:]
        for cookie in cookies where !cookie.isExpired(at: now) { latest[cookie.identity] = cookie }
        domains = Dictionary(grouping: latest.values, by: \.domain)
        for domain in domains.keys { Self.evict(&domains[domain, default: []], downTo: limits.perDomain) }
        count = domains.values.reduce(0) { $0 + $1.count }
        if count > limits.total { evict(now: now) }
    }

    func contains(_ identity: Cookie.Identity) -> Bool {
        domains[identity.domain]?.contains { $0.identity == identity } ?? false
    }

    // MARK: Removing

    mutating func remove(_ identities: Set<Cookie.Identity>) {
        for domain in Set(identities.map(\.domain)) {
            guard var cookies = domains[domain] else { continue }
            let before = cookies.count
            cookies.removeAll { identities.contains($0.identity) }
            count += cookies.count - before
            domains[domain] = cookies.isEmpty ? nil : cookies
        }
    }

    /// Removes these cookies, except those whose value has changed since they were selected. Returns the identities of the
    /// removed cookies.
    mutating func removeUnchanged(_ victims: [Cookie]) -> Set<Cookie.Identity> {
        let values = Dictionary(victims.map { ($0.identity, $0.value) }) { $1 }
        var identities: Set<Cookie.Identity> = []
        for domain in Set(victims.map(\.domain)) {
            for cookie in domains[domain] ?? [] where values[cookie.identity] == cookie.value {
                identities.insert(cookie.identity)
            }
        }
        remove(identities)
        return identities
    }

    /// Removes the cookies for which the closure returns true.
    public mutating func remove(where shouldRemove: (Cookie) -> Bool) {
        remove(Set(domains.values.joined().filter(shouldRemove).map(\.identity)))
    }

    /// Removes all cookies.
    public mutating func removeAll() { (domains, count) = ([:], 0) }

    /// Removes excess cookies of a domain: first those that aren't secure, then the least recently used (section 5.7).
    private static func evict(_ cookies: inout [Cookie], downTo limit: Int) {
        guard cookies.count > limit else { return }
        let victims = cookies.sorted { first, second in
            guard first.isSecure == second.isSecure else { return !first.isSecure }
            return first.lastAccessDate < second.lastAccessDate
        }.prefix(cookies.count - limit)
        let identities = Set(victims.map(\.identity))
        cookies.removeAll { identities.contains($0.identity) }
    }

    /// Removes excess cookies of the whole jar in this order: expired cookies, the excess cookies of sites that use more than an
    /// eighth of the limit, and the least recently used cookies. Removes a few more than necessary, because searching the whole jar
    /// for each new cookie is slow.
    private mutating func evict(now: Date) {
        remove { $0.isExpired(at: now) }
        let share = max(1, limits.total / 8)
        let sites = Dictionary(grouping: domains.values.joined()) { CookieDomain.site(of: $0.domain) }
        for cookies in sites.values where cookies.count > share {
            let oldest = cookies.sorted { $0.lastAccessDate < $1.lastAccessDate }.prefix(cookies.count - share)
            remove(Set(oldest.map(\.identity)))
        }
        guard count > limits.total else { return }
        let excess = count - limits.total + limits.total / 32
        let oldest = domains.values.joined().sorted { $0.lastAccessDate < $1.lastAccessDate }.prefix(excess)
        remove(Set(oldest.map(\.identity)))
    }
}

extension Cookie {
    /// Returns this cookie with those properties of `known` that a file can't store.
    func addingTransientProperties(of known: Cookie) -> Cookie {
        var cookie = Cookie(
            sendableName: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, expires: expires,
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: known.sameSite, creationDate: known.creationDate)
        cookie.isLatin1 = isLatin1
        cookie.lastAccessDate = known.lastAccessDate
        return cookie
    }

    /// Returns whether a store that has one of the cookies can skip storing the other. The cookies must be equal except for their
    /// dates, and their remaining lifetimes must differ by 1% at most.
    func isSame(as other: Cookie, now: Date) -> Bool {
        guard identity == other.identity, value == other.value, isLatin1 == other.isLatin1, isSecure == other.isSecure,
            isHTTPOnly == other.isHTTPOnly, sameSite == other.sameSite
        else { return false }
        guard let expires, let end = other.expires else { return expires == other.expires }
        return abs(end.timeIntervalSince(expires)) <= end.timeIntervalSince(now) / 100
    }
}
