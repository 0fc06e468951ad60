import Foundation

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The seconds since 1970, nil when the text is no such date. The two obsolete forms are not read.
    package static func parse(_ text: String) -> Int? {
        let pattern = /[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT/
        guard let match = text.wholeMatch(of: pattern), let month = months.firstIndex(of: String(match.2)),
            let day = Int32(match.1), let year = Int32(match.3), let hour = Int32(match.4),
            let minute = Int32(match.5), let second = Int32(match.6),
            (1...31).contains(day), year >= 1900, hour < 24, minute < 60, second <= 60
        else { return nil }
        var time = tm()
        (time.tm_mday, time.tm_mon, time.tm_year) = (day, Int32(month), year - 1900)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        return Int(timegm(&time))
    }
}
