import Foundation

/// The value of a `Strict-Transport-Security` field (RFC 6797, section 6.1).
struct StrictTransportSecurity {
    /// The duration in seconds.
    let maximumAge: Int
    let includesSubdomains: Bool

    /// The maximum duration in seconds: ten years, so that every calendar can represent the expiration date.
    private static let longestAge = 10 * 365 * 24 * 60 * 60

    /// - Returns: Nil if the value doesn't follow the grammar. Such a field is ignored.
    init?(_ value: String) {
        var scanner = FieldScanner(value)
        var seen: Set<String> = []
        var age: Int?
        var includesSubdomains = false
        repeat {
            scanner.skipSpaces()
            guard let name = scanner.token()?.asciiLowercased else {
                // An empty directive is valid.
                guard scanner.next == nil || scanner.next == UInt8(ascii: ";") else { return nil }
                continue
            }
            scanner.skipSpaces()
            var argument: String?
            if scanner.skip("=") {
                scanner.skipSpaces()
                guard let value = scanner.quotedString() ?? scanner.token() else { return nil }
                argument = value
                scanner.skipSpaces()
            }
            guard scanner.next == nil || scanner.next == UInt8(ascii: ";"), seen.insert(name).inserted else {
                return nil
            }
            switch name {
            case "max-age":
                guard let digits = argument?.utf8, !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
                age = digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), Self.longestAge) }
            case "includesubdomains":
                guard argument == nil else { return nil }
                includesSubdomains = true
            default: break
            }
        } while scanner.skip(";")
        guard let age, scanner.next == nil else { return nil }
        (maximumAge, self.includesSubdomains) = (age, includesSubdomains)
    }
}
