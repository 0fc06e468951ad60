import Foundation

/// Parses the dates of cookies, which servers write in many formats (RFC 6265bis, section 5.1.1).
enum CookieDate {
    /// The parts of a date. The first occurrence of each part counts.
    private struct Parts {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        /// Uses a word for the first part that is still missing and that the word can represent.
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

    /// Returns the date that a text represents, or nil if it isn't a date.
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
        // `timegm` turns a day that the month doesn't have into a day of the next month.
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
