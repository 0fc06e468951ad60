import Foundation

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
    /// The formats are `Sun, 06 Nov 1994 08:49:37 GMT` and the obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`. Names match in any case, as in browsers. The day of the week isn't checked against the date.
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
        // A one-digit day is preceded by a second space.
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

    /// Expands a two-digit year. A year more than 50 years in the future is taken to be in the past century.
    private static func fullYear(_ year: Int32) -> Int32 {
        var now = time(nil)
        var calendar = tm()
        gmtime_r(&now, &calendar)
        let current = calendar.tm_year + 1900
        let guess = current - current % 100 + year
        return guess > current + 50 ? guess - 100 : guess
    }
}
