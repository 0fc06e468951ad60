import Foundation

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    static func text(secondsSince1970: Int) -> String {
        var time = time_t(secondsSince1970)
        var parts = tm()
        gmtime_r(&time, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0) }.joined(separator: ":")
        let day = padded(parts.tm_mday)
        return "\(days[Int(parts.tm_wday)]), \(day) \(months[Int(parts.tm_mon)]) \(1900 + parts.tm_year) \(clock) GMT"
    }

    static var now: String { text(secondsSince1970: time(nil)) }

    /// The seconds since 1970, or `nil` when the text is no such date.
    static func parse(_ text: String) -> Int? {
        let parts = text.split { $0 == " " || $0 == "," || $0 == ":" }
        guard parts.count == 8, let month = months.firstIndex(of: String(parts[2])) else { return nil }
        let numbers = [1, 3, 4, 5, 6].compactMap { Int32(parts[$0]) }
        guard numbers.count == 5, 1900...9999 ~= numbers[1] else { return nil }
        var time = tm()
        time.tm_mday = numbers[0]
        time.tm_mon = Int32(month)
        time.tm_year = numbers[1] - 1900
        time.tm_hour = numbers[2]
        time.tm_min = numbers[3]
        time.tm_sec = numbers[4]
        return timegm(&time)
    }

    private static func padded(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
