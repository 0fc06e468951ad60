public import Foundation

/// The rules for the cookies that a server can set (RFC 6265bis, sections 5.3 to 5.7), except the rules that depend on stored cookies.
public struct CookieRules: Sendable {
    private let publicSuffixes: any PublicSuffixList

    /// Creates rules.
    ///
    /// - Parameter publicSuffixes: The domains that no cookie can be set for. The default is nil, which treats each name without
    ///   a dot as a public suffix.
    public init(publicSuffixes: (any PublicSuffixList)? = nil) {
        self.publicSuffixes = publicSuffixes ?? TopLevelSuffixes()
    }

    /// Creates the cookie that a `Set-Cookie` field describes.
    ///
    /// - Returns: Nil if the field is ignored: it is malformed, too long, or sets a cookie that the URL isn't allowed to set. An expired
    ///   cookie instructs a store to remove the stored cookie with the same identity.
    public func cookie(from field: String, of url: CookieURL, now: Date = Date()) -> Cookie? {
        cookie(from: field, isLatin1: false, of: url, now: now)
    }

    func cookie(from field: String, isLatin1: Bool, of url: CookieURL, now: Date) -> Cookie? {
        guard let field = SetCookie(field, now: now), let scope = scope(of: field, from: url) else { return nil }
        guard url.isSecure || !field.isSecure, field.sameSite != .unrestricted || field.isSecure else {
            return nil
        }
        var cookie = Cookie(
            sendableName: field.name, value: field.value, domain: scope.domain, isHostOnly: scope.isHostOnly,
            path: field.path ?? url.defaultPath, expires: field.expires, isSecure: field.isSecure,
            isHTTPOnly: field.isHTTPOnly, sameSite: field.sameSite, creationDate: now)
        cookie.isLatin1 = isLatin1
        return Self.satisfiesNamePrefix(cookie, hasPath: field.path != nil) ? cookie : nil
    }

    /// Returns the hosts that receive the cookie, or nil if the server isn't allowed to set cookies for them.
    private func scope(of field: SetCookie, from url: CookieURL) -> (domain: String, isHostOnly: Bool)? {
        guard let wanted = field.domain else { return (url.host, true) }
        guard let domain = CookieDomain(wanted) else { return nil }
        if publicSuffixes.isPublicSuffix(domain.text) || domain.isAddress {
            return domain == url.domain ? (url.host, true) : nil
        }
        return url.domain.matches(domain.text) ? (domain.text, false) : nil
    }

    /// Checks name prefixes (section 5.4): `__Secure-` and `__Host-` require certain attributes.
    private static func satisfiesNamePrefix(_ cookie: Cookie, hasPath: Bool) -> Bool {
        func begins(_ text: String, _ prefix: String) -> Bool {
            text.utf8.prefix(prefix.utf8.count).map(\.asciiLowercased).elementsEqual(prefix.utf8)
        }
        let (host, secure) = ("__host-", "__secure-")
        // For a nameless cookie, servers parse the text before a "=" in the value as the name.
        if cookie.name.isEmpty {
            return !begins(cookie.value, host) && !begins(cookie.value, secure) && !cookie.value.utf8.contains(0x3D)
        }
        if begins(cookie.name, host) { return cookie.isSecure && cookie.isHostOnly && hasPath && cookie.path == "/" }
        return !begins(cookie.name, secure) || cookie.isSecure
    }

    package func areSameSite(_ host: CookieURL, _ other: CookieURL) -> Bool {
        publicSuffixes.areSameSite(host.domain, other.domain)
    }
}

// MARK: - Public suffixes

/// A list of public suffixes: domains such as `com`, `co.uk`, and `github.io`, under which anyone can register names. Cookies can't be set
/// for an entire public suffix.
///
/// The list is used on any thread while a response is read, so its method must return quickly.
public protocol PublicSuffixList: Sendable {
    /// Returns a Boolean value that indicates whether a domain is a public suffix.
    ///
    /// - Parameter domain: The domain in lowercase ASCII (Punycode for other characters), without a leading or trailing dot.
    func isPublicSuffix(_ domain: String) -> Bool
}

/// The fallback without a list: each name without a dot is a public suffix.
struct TopLevelSuffixes: PublicSuffixList {
    func isPublicSuffix(_ domain: String) -> Bool { !domain.utf8.contains(UInt8(ascii: ".")) }
}

extension PublicSuffixList {
    /// Returns whether two hosts belong to the same site: they are equal, or they share a public suffix and the label before it.
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

// MARK: - Set-Cookie

/// A parsed `Set-Cookie` field (RFC 6265bis, section 5.6). If an attribute occurs more than once, the last one counts.
struct SetCookie {
    /// The maximum length of the name and the value together, in bytes.
    private static let longestPair = 4096
    /// The maximum length of an attribute's value, in bytes.
    private static let longestAttribute = 1024
    /// The maximum lifetime of a cookie (section 5.5): 400 days, in seconds.
    static let longestAge = 400 * 24 * 60 * 60

    let name: String
    let value: String
    /// The expiration date from `Max-Age`, otherwise from `Expires`.
    private(set) var expires: Date?
    /// The domain in lowercase, without a leading dot; nil if the field doesn't specify one.
    private(set) var domain: String?
    /// Nil for the default path.
    private(set) var path: String?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    private(set) var sameSite: Cookie.SameSite?

    /// - Returns: Nil if the field is ignored.
    init?(_ field: String, now: Date) {
        guard field.allBytes({ !$0.isCookieControl }) else { return nil }
        var parts = Substring(field).utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst() else { return nil }
        let (name, value) = Self.split(pair)
        (self.name, self.value) = value.map { (Self.text(name), Self.text($0)) } ?? ("", Self.text(name))
        let length = self.name.utf8.count + self.value.utf8.count
        guard length > 0, length <= Self.longestPair else { return nil }
        var maximumAge: Date?
        for part in parts {
            let (name, value) = Self.split(part)
            guard value?.count ?? 0 <= Self.longestAttribute else { continue }
            take(Self.text(name).asciiLowercased, value.map(Self.text) ?? "", now, &maximumAge)
        }
        expires = (maximumAge ?? expires).map { min($0, now + TimeInterval(Self.longestAge)) }
    }

    private mutating func take(_ name: String, _ value: String, _ now: Date, _ maximumAge: inout Date?) {
        switch name {
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age": maximumAge = Self.end(ofAge: value, now: now) ?? maximumAge
        case "domain":
            let domain = value.utf8.first == UInt8(ascii: ".") ? String(value.dropFirst()) : value
            self.domain = domain.isEmpty ? nil : domain.asciiLowercased
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            sameSite = Cookie.SameSite.allCases.first { $0.rawValue.asciiLowercased == value.asciiLowercased }
        default: break
        }
    }

    /// Parses `Max-Age` (section 5.6.2).
    private static func end(ofAge text: String, now: Date) -> Date? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        let seconds = digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), longestAge) }
        return isNegative || seconds == 0 ? .distantPast : now + TimeInterval(seconds)
    }

    /// Splits a part at its first `=`, and trims spaces.
    private static func split(_ part: Substring.UTF8View) -> (name: Substring.UTF8View, value: Substring.UTF8View?) {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(part), nil) }
        return (trimmed(part[..<equals]), trimmed(part[part.index(after: equals)...]))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        guard let last = text.lastIndex(where: { !$0.isFieldSpace }) else { return text.prefix(0) }
        return text[...last].drop(while: \.isFieldSpace)
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }
}

// MARK: - Dates

/// Parses the dates of cookies, which servers write in many formats (RFC 6265bis, section 5.1.1).
enum CookieDate {
    /// The parts of a date. The first occurrence of each part counts.
    private struct Parts {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        /// Assigns a word to the first missing part that the word can represent.
        mutating func take(_ word: Substring.UTF8View) {
            if time == nil, let time = CookieDate.time(word) { return self.time = time }
            if day == nil, let day = CookieDate.number(word, digits: 1...2) { return self.day = day }
            if month == nil, let month = CookieDate.month(word) { return self.month = month }
            if year == nil, let year = CookieDate.number(word, digits: 2...4) { self.year = year }
        }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }

    static func parse(_ text: String) -> Date? {
        var parts = Parts()
        for word in Substring(text).utf8.split(whereSeparator: isDelimiter) { parts.take(word) }
        guard let time = parts.time, let day = parts.day, let month = parts.month, var year = parts.year else {
            return nil
        }
        if (70...99).contains(year) { year += 1900 } else if year < 70 { year += 2000 }
        guard (1...31).contains(day), year >= 1601, time.hour <= 23, time.minute <= 59, time.second <= 59 else {
            return nil
        }
        var date = tm()
        (date.tm_mday, date.tm_mon, date.tm_year) = (Int32(day), Int32(month), Int32(year - 1900))
        (date.tm_hour, date.tm_min, date.tm_sec) = (Int32(time.hour), Int32(time.minute), Int32(time.second))
        let seconds = timegm(&date)
        // `timegm` converts an invalid day to a day of the next month.
        guard date.tm_mday == Int32(day), date.tm_mon == Int32(month) else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses `12:34:56`. Any text that doesn't begin with a digit can follow.
    private static func time(_ word: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let fields = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let hour = wholeNumber(fields[0]), let minute = wholeNumber(fields[1]),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func wholeNumber(_ field: Substring.UTF8View) -> Int? {
        field.allSatisfy(\.isDigit) ? number(field, digits: 1...2) : nil
    }

    /// Parses this many digits. Any text that doesn't begin with a digit can follow.
    private static func number(_ word: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = word.prefix(while: \.isDigit)
        return digits.contains(number.count) ? number.reduce(0) { $0 * 10 + Int($1 - 0x30) } : nil
    }

    private static func month(_ word: Substring.UTF8View) -> Int? {
        let name = word.prefix(3).map(\.asciiLowercased)
        return months.firstIndex(of: name)
    }
}
