import Foundation

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
