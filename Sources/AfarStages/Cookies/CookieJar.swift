public import Foundation

/// The cookies of a store, and the rules for what comes in and goes out (RFC 6265bis, sections 5.7 and 5.8): a value without
/// any I/O, for a ``CookieStore`` of your own.
///
/// Cookies are found by their domains, so what others have set costs a request nothing.
public struct CookieJar: Sendable {
    /// How many cookies there may be.
    public struct Limits: Sendable, Hashable {
        /// Cookies of one domain; less than 1 counts as 1. The default is 50.
        public var perDomain: Int
        /// Cookies in all; less than 1 counts as 1. The default is 3,000.
        public var total: Int

        /// Makes limits.
        public init(perDomain: Int = 50, total: Int = 3_000) { (self.perDomain, self.total) = (perDomain, total) }
    }

    private let limits: Limits
    private var domains: [String: [Cookie]] = [:]
    /// How many cookies there are, those whose time is over but that nobody has looked at since among them.
    public private(set) var count = 0

    /// Makes an empty jar.
    public init(limits: Limits = Limits()) {
        self.limits = Limits(perDomain: max(1, limits.perDomain), total: max(1, limits.total))
    }

    /// Whether there are none.
    public var isEmpty: Bool { count == 0 }

    // MARK: Going out

    /// The cookies for a request, in the order in which they are sent: longer paths first, then earlier creation (section 5.8.3).
    /// They count as used from now on.
    public mutating func cookies(for url: CookieURL, now: Date = Date()) -> [Cookie] {
        guard !isEmpty else { return [] }
        var found: [Cookie] = []
        for domain in url.domain.matchingDomains.map(String.init) {
            guard let index = domains.index(forKey: domain) else { continue }
            for place in domains.values[index].indices {
                let cookie = domains.values[index][place]
                guard !cookie.isExpired(at: now), !cookie.isHostOnly || domain == url.host,
                    url.isSecure || !cookie.isSecure, url.matches(path: cookie.path)
                else { continue }
                domains.values[index][place].lastAccessDate = now
                found.append(domains.values[index][place])
            }
        }
        guard found.count > 1 else { return found }
        return found.sorted { first, second in
            let (length, other) = (first.path.utf8.count, second.path.utf8.count)
            return length == other ? first.creationDate < second.creationDate : length > other
        }
    }

    /// All whose time is not over.
    public func all(now: Date = Date()) -> [Cookie] {
        domains.values.flatMap { $0.filter { !$0.isExpired(at: now) } }
    }

    // MARK: Coming in

    /// Takes a cookie; one whose time is over removes the one that is there.
    ///
    /// - Parameters:
    ///   - cookie: What ``CookieRules`` have made of a field, or the program itself.
    ///   - url: Where it came from; nil for the program itself, which may set whatever it wants.
    ///   - now: The time.
    /// - Returns: Whether anything is different now from before.
    @discardableResult
    public mutating func store(_ cookie: Cookie, from url: CookieURL? = nil, now: Date = Date()) -> Bool {
        if let url, !url.isSecure, !cookie.isSecure, coversSecureCookie(cookie, now: now) { return false }
        var cookies = domains[cookie.domain] ?? []
        let before = cookies.count
        cookies.removeAll { $0.isExpired(at: now) }
        var new = cookie
        let place = cookies.firstIndex { $0.identity == cookie.identity }
        let old = place.map { cookies.remove(at: $0) }
        let isChanged = old.map { !$0.isSame(as: cookie, now: now) } ?? !cookie.isExpired(at: now)
        if let old {
            new.creationDate = old.creationDate
            // One whose end moves a little with each response is not a new one each time.
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

    /// "Leave secure cookies alone" (section 5.7): without TLS nobody can say that a cookie comes from its server.
    private func coversSecureCookie(_ cookie: Cookie, now: Date) -> Bool {
        let domain = CookieDomain(host: cookie.domain)
        func isCovered(_ other: Cookie) -> Bool {
            other.isSecure && other.name == cookie.name && CookieURL.path(cookie.path, matches: other.path)
                && !other.isExpired(at: now)
        }
        for above in domain.matchingDomains where domains[String(above)]?.contains(where: isCovered) == true {
            return true
        }
        // Those below it are found by their names only.
        return domains.contains { name, cookies in
            name.utf8.count > cookie.domain.utf8.count && CookieDomain(host: name).matches(cookie.domain)
                && cookies.contains(where: isCovered)
        }
    }

    /// Takes cookies in place of those that there are, the dates that they have included.
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

    // MARK: Going away

    /// Removes cookies, by what tells them apart.
    mutating func remove(_ identities: Set<Cookie.Identity>) {
        for domain in Set(identities.map(\.domain)) {
            guard var cookies = domains[domain] else { continue }
            let before = cookies.count
            cookies.removeAll { identities.contains($0.identity) }
            count += cookies.count - before
            domains[domain] = cookies.isEmpty ? nil : cookies
        }
    }

    /// Removes cookies that were chosen before, but not those that have come in their places since. Returns which are gone.
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

    /// Removes the cookies that a closure chooses.
    public mutating func remove(where shouldRemove: (Cookie) -> Bool) {
        remove(Set(domains.values.joined().filter(shouldRemove).map(\.identity)))
    }

    /// Removes all cookies.
    public mutating func removeAll() { (domains, count) = ([:], 0) }

    /// Makes room in a domain: those that are not secure first, and then those that were not used for longest (section 5.7).
    private static func evict(_ cookies: inout [Cookie], downTo limit: Int) {
        guard cookies.count > limit else { return }
        let victims = cookies.sorted { first, second in
            guard first.isSecure == second.isSecure else { return !first.isSecure }
            return first.lastAccessDate < second.lastAccessDate
        }.prefix(cookies.count - limit)
        let identities = Set(victims.map(\.identity))
        cookies.removeAll { identities.contains($0.identity) }
    }

    /// Makes room among all: those whose time is over, those of a site that has more than an eighth of all, and then those
    /// that were not used for longest. A few more than there have to be, so that not each new cookie looks through all.
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
    /// This cookie with what a file does not have.
    func remembering(_ known: Cookie) -> Cookie {
        var cookie = Cookie(
            sendableName: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, expires: expires,
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: known.sameSite, creationDate: known.creationDate)
        cookie.isLatin1 = isLatin1
        cookie.lastAccessDate = known.lastAccessDate
        return cookie
    }

    /// Whether a store that has one need not write the other: they agree in all but their dates, and end at about the same
    /// time, to one part in a hundred.
    func isSame(as other: Cookie, now: Date) -> Bool {
        guard identity == other.identity, value == other.value, isLatin1 == other.isLatin1, isSecure == other.isSecure,
            isHTTPOnly == other.isHTTPOnly, sameSite == other.sameSite
        else { return false }
        guard let expires, let end = other.expires else { return expires == other.expires }
        return abs(end.timeIntervalSince(expires)) <= end.timeIntervalSince(now) / 100
    }
}
