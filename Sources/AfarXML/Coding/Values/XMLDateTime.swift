import Foundation

/// Dates in XML Schema format: `2024-05-06T07:08:09.5+02:00`, or `2024-05-06` for the beginning of a day.
///
/// Dates without a time zone are in UTC (XML Schema Part 2, sections 3.2.7 and 3.2.9).
enum XMLDateTime {
    static let expectation = "a date such as 2024-05-06 or 2024-05-06T07:08:09Z"

    /// Parses a date. Returns `nil` if the text is invalid.
    static func date(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
        var reader = DateReader(text)
        let isBeforeChrist = reader.skip("-")
        guard let year = reader.number(4...9), reader.skip("-"), let month = reader.number(2...2), reader.skip("-"),
            let day = reader.number(2...2), (1...12).contains(month)
        else { return nil }
        let signedYear = isBeforeChrist ? -year : year
        guard day >= 1, day <= daysInMonth(month, signedYear) else { return nil }
        var seconds = daysSince1970(year: signedYear, month: month, day: day) * 86400
        var fraction = 0.0
        if reader.skip("T") {
            guard let time = reader.time() else { return nil }
            seconds += time.seconds
            fraction = time.fraction
        }
        guard let zone = reader.zone(), reader.isAtEnd else { return nil }
        return Date(timeIntervalSinceReferenceDate: Double(seconds - zone - secondsTo2001) + fraction)
    }

    /// Returns the text of a date in UTC. Returns `nil` if the date isn't finite or its year has more than nine digits.
    /// The seconds have as many fractional digits as are needed to parse the same date again, up to nine.
    static func text(_ date: Date) -> String? {
        let interval = date.timeIntervalSinceReferenceDate
        // Limit the year to nine digits.
        guard interval.isFinite, abs(interval) < 3e16 else { return nil }
        var seconds = Int(interval.rounded(.down))
        var digits = ""
        if interval != interval.rounded(.down) {
            let fraction = interval - interval.rounded(.down)
            var scale = 1.0
            for count in 1...9 {
                scale *= 10
                let part = (fraction * scale).rounded()
                guard count == 9 || Double(seconds) + part / scale == interval else { continue }
                // Carry over to the seconds.
                if part == scale {
                    seconds += 1
                } else {
                    digits = ".\(padded(Int(part), count))"
                    while digits.hasSuffix("0") { digits.removeLast() }
                    if digits == "." { digits = "" }
                }
                break
            }
        }
        let since1970 = seconds + secondsTo2001
        let time = since1970 - floorDivide(since1970, 86400) * 86400
        let day = civil(floorDivide(since1970, 86400))
        guard abs(day.year) <= 999_999_999 else { return nil }
        let year = (day.year < 0 ? "-" : "") + padded(abs(day.year), 4)
        return "\(year)-\(padded(day.month, 2))-\(padded(day.day, 2))T\(padded(time / 3600, 2))"
            + ":\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2))\(digits)Z"
    }

    private static let secondsTo2001 = 978_307_200

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension XMLDateTime {
    private static func daysInMonth(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days since 1970. In the calculation, years begin in March, so the leap day is the last day of a
    /// year. 400 years have 146,097 days.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let era = floorDivide(marchYear, 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + 719_468
        let era = floorDivide(days, 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }
}

/// Parses the parts of a date from left to right.
private struct DateReader {
    private let text: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    var isAtEnd: Bool { index == text.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < text.count, text[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Parses the digits that follow, up to the maximum count. Returns `nil` if there are fewer digits than the minimum
    /// count.
    mutating func number(_ count: ClosedRange<Int>) -> Int? {
        let start = index
        var value = 0
        while index < text.count, index - start < count.upperBound {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value * 10 + Int(digit)
            index += 1
        }
        return index - start >= count.lowerBound ? value : nil
    }

    /// Parses the time of day. 24:00:00 is the end of the day.
    mutating func time() -> (seconds: Int, fraction: Double)? {
        guard let hour = number(2...2), skip(":"), let minute = number(2...2), skip(":"), let second = number(2...2),
            hour <= 24, minute < 60, second < 60
        else { return nil }
        var fraction = 0.0
        if skip(".") {
            var scale = 1.0
            let start = index
            while index < text.count, case let digit = text[index] &- UInt8(ascii: "0"), digit < 10 {
                // More than 12 digits exceed the precision of `Date`.
                if index - start < 12 {
                    scale *= 10
                    fraction = fraction * 10 + Double(digit)
                }
                index += 1
            }
            guard index > start else { return nil }
            fraction /= scale
        }
        guard hour < 24 || minute == 0 && second == 0 && fraction == 0 else { return nil }
        return (hour * 3600 + minute * 60 + second, fraction)
    }

    /// Parses the time zone and returns its offset from UTC in seconds, positive to the east.
    mutating func zone() -> Int? {
        if isAtEnd || skip("Z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hour = number(2...2), skip(":"), let minute = number(2...2),
            minute < 60, hour * 60 + minute <= 14 * 60
        else { return nil }
        return (hour * 3600 + minute * 60) * (isWest ? -1 : 1)
    }
}
