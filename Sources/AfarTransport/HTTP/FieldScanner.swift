import Foundation

/// Scans the value of a header field from the start: tokens, quoted strings, parameters and list elements (RFC 9110, sections 5.6
/// and 11.2). It compares bytes, so a comma followed by a combining character is still a comma.
///
/// Methods that read a character, a token or a quoted string consume nothing if they return nil or false.
package struct FieldScanner {
    private var remaining: Substring.UTF8View

    package init(_ value: some StringProtocol) {
        remaining = Substring(value).utf8
    }

    // MARK: Characters

    /// The next byte; nil at the end.
    package var next: UInt8? { remaining.first }

    package mutating func skipSpaces() { remaining = remaining.drop(while: \.isFieldSpace) }

    /// Consumes a character if it is the next one.
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        remaining.removeFirst()
        return true
    }

    // MARK: Words

    /// Reads a token (section 5.6.2).
    package mutating func token() -> String? { read(while: \.isTokenCharacter) }

    /// Reads a `token68`, which credentials and challenges can contain instead of parameters (section 11.2).
    package mutating func token68() -> String? {
        guard let word = read(while: \.isToken68Character) else { return nil }
        return word + (read { $0 == UInt8(ascii: "=") } ?? "")
    }

    /// Reads a quoted string and returns its unescaped content (section 5.6.4).
    package mutating func quotedString() -> String? {
        var ahead = self
        guard ahead.skip("\"") else { return nil }
        let text = ahead.textUpToQuote()
        guard ahead.skip("\"") else { return nil }
        self = ahead
        return text
    }

    // MARK: Lists

    /// Moves to the next element of a list (section 5.6.1). Returns false if there are no more elements.
    package mutating func skipToElement() -> Bool {
        remaining = remaining.drop { $0.isFieldSpace || $0 == UInt8(ascii: ",") }
        return !remaining.isEmpty
    }

    /// Returns the elements of a list that can be spread over several fields.
    package static func elements(of values: [String]) -> [String] {
        values.flatMap { value in
            var scanner = FieldScanner(value)
            var elements: [String] = []
            while scanner.skipToElement() { elements.append(scanner.element()) }
            return elements
        }
    }

    /// Reads the list element that begins here: everything up to the next comma outside of a quoted string.
    package mutating func element() -> String {
        let element = remaining
        while let byte = next, byte != UInt8(ascii: ",") {
            remaining.removeFirst()
            if byte == UInt8(ascii: "\"") {
                _ = textUpToQuote()
                _ = skip("\"")
            }
        }
        return Self.trimmed(element[..<remaining.startIndex])
    }

    // MARK: Parameters

    /// Reads everything up to the next semicolon.
    mutating func textUpToParameter() -> String { trimmedText { $0 == UInt8(ascii: ";") } }

    /// Reads the next parameter (section 5.6.6). Its name is returned in lowercase. Returns nil if there are no more parameters.
    ///
    /// Accepts what servers send in practice: an unquoted value extends to the next semicolon, and a closing quote can be
    /// missing. A parameter without a value is skipped.
    package mutating func parameter() -> (name: String, value: String)? {
        while true {
            _ = textUpToParameter()
            guard skip(";") else { return nil }
            let name = trimmedText { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
            guard skip("=") else { continue }
            skipSpaces()
            if skip("\"") { return (name.asciiLowercased, textUpToQuote()) }
            let value = textUpToParameter()
            if !value.isEmpty { return (name.asciiLowercased, value) }
        }
    }

    // MARK: Helpers

    /// Reads the rest of a quoted string whose opening quote has been consumed.
    private mutating func textUpToQuote() -> String {
        var text: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            remaining.removeFirst()
            text.append(byte == UInt8(ascii: "\\") ? remaining.popFirst() ?? byte : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func read(while predicate: (UInt8) -> Bool) -> String? {
        let consumed = remaining.prefix(while: predicate)
        remaining = remaining[consumed.endIndex...]
        return consumed.isEmpty ? nil : String(Substring(consumed))
    }

    private mutating func trimmedText(upTo ends: (UInt8) -> Bool) -> String {
        let text = remaining.prefix { !ends($0) }
        remaining = remaining[text.endIndex...]
        return Self.trimmed(text)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        guard let last = text.lastIndex(where: { !$0.isFieldSpace }) else { return "" }
        return String(Substring(text[...last].drop(while: \.isFieldSpace)))
    }
}

// MARK: - Dates

/// Parses dates in HTTP's formats (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let shortDays = Set(days.map { $0.prefix(3) })
    private static let longDays = Set(days.map { $0[...] })

    /// Returns the seconds since 1970, or nil if the text is not a date.
    ///
    /// The formats are `Sun, 06 Nov 1994 08:49:37 GMT` and the obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. The
    /// case of names doesn't matter, as in browsers. The day of the week isn't checked against the date.
    package static func parse(_ text: String) -> Int? {
        guard text.utf8.count < 64 else { return nil }
        let words = text.asciiLowercased.split(separator: " ", omittingEmptySubsequences: false)
        if words.count == 6, words[0].last == ",", shortDays.contains(words[0].dropLast()), words[5] == "gmt" {
            return seconds(year: number(words[3], 4), month: words[2], day: number(words[1], 2), time: words[4])
        }
        if words.count == 4, words[0].last == ",", longDays.contains(words[0].dropLast()), words[3] == "gmt" {
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3 else { return nil }
            return seconds(
                year: number(date[2], 2).map(fullYear), month: date[1], day: number(date[0], 2), time: words[2])
        }
        // A second space precedes a one-digit day.
        let hasShortDay = words.count == 6 && words[2].isEmpty
        guard hasShortDay || words.count == 5, shortDays.contains(words[0]) else { return nil }
        let rest = words.suffix(3).map { $0 }
        return seconds(
            year: number(rest[2], 4), month: words[1], day: number(rest[0], hasShortDay ? 1 : 2), time: rest[1])
    }

    private static func seconds(year: Int32?, month: Substring, day: Int32?, time: Substring) -> Int? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, 2) }
        guard let year, let day, let month = months.firstIndex(of: String(month)), clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2],
            (1...31).contains(day), year >= 1900, hour < 24, minute < 60, second <= 60
        else { return nil }
        var time = tm()
        (time.tm_mday, time.tm_mon, time.tm_year) = (day, Int32(month), year - 1900)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        return Int(timegm(&time))
    }

    /// Parses a number with exactly this many digits.
    private static func number(_ text: Substring, _ digits: Int) -> Int32? {
        guard text.utf8.count == digits, digits <= 4, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int32(text)
    }

    /// Expands a two-digit year. A year that would be more than 50 years in the future is moved to the previous century.
    private static func fullYear(_ year: Int32) -> Int32 {
        var now = time(nil)
        var calendar = tm()
        gmtime_r(&now, &calendar)
        let current = calendar.tm_year + 1900
        let guess = current - current % 100 + year
        return guess > current + 50 ? guess - 100 : guess
    }
}
