import Foundation

/// Dates as HTTP writes them (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The seconds since 1970, nil when the text is no date: `Sun, 06 Nov 1994 08:49:37 GMT`, or one of the obsolete forms
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    package static func parse(_ text: String) -> Int? {
        let words = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") }.map(Substring.init)
        guard text.utf8.count < 64, text.utf8.last != UInt8(ascii: " "), (5...6).contains(words.count) else {
            return nil
        }
        if words[0].hasSuffix(","), words.count == 6, words[5] == "GMT" {
            let year = words[3].utf8.count == 2 ? number(words[3], 2).map(fullYear) : number(words[3], 4)
            return seconds(year: year, month: words[2], day: number(words[1], 2), time: words[4])
        }
        guard words.count == 5, !words[0].hasSuffix(",") else { return nil }
        return seconds(
            year: number(words[4], 4), month: words[1], day: number(words[2], words[2].utf8.count), time: words[3])
    }

    private static func seconds(year: Int32?, month: Substring, day: Int32?, time: Substring) -> Int? {
        let clock = time.utf8.split(separator: UInt8(ascii: ":")).map { number(Substring($0), 2) }
        guard let year, let day, let month = months.firstIndex(of: String(month)), clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2],
            (1...31).contains(day), year >= 1900, hour < 24, minute < 60, second <= 60
        else { return nil }
        var time = tm()
        (time.tm_mday, time.tm_mon, time.tm_year) = (day, Int32(month), year - 1900)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        return Int(timegm(&time))
    }

    /// A number of so many digits.
    private static func number(_ text: Substring, _ digits: Int) -> Int32? {
        guard text.utf8.count == digits, digits <= 4, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int32(text)
    }

    /// A year of two digits: one that would be more than 50 years ahead lies in the past century.
    private static func fullYear(_ year: Int32) -> Int32 {
        var now = time(nil)
        var calendar = tm()
        gmtime_r(&now, &calendar)
        let current = calendar.tm_year + 1900
        let guess = current - current % 100 + year
        return guess > current + 50 ? guess - 100 : guess
    }
}
