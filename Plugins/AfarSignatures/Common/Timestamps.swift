import Foundation

/// A date as it appears in signed requests: `20150830T123600Z`.
struct AWSTimestamp: Sendable {
    let text: String
    /// The date without the time: `20150830`.
    var day: String { String(text.prefix(8)) }

    init(_ date: Date) {
        // The limits are the years 0001 and 9999, which have four digits.
        let seconds = date.timeIntervalSince1970.clamped(to: -62_135_596_800...253_402_300_799)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: seconds.rounded(.down)))
        func digits(_ value: Int?, _ count: Int = 2) -> String {
            let text = String(value ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        text =
            digits(parts.year, 4) + digits(parts.month) + digits(parts.day) + "T" + digits(parts.hour)
            + digits(parts.minute) + digits(parts.second) + "Z"
    }
}

extension Double {
    /// Returns the nearest number within the range. NaN becomes the lower limit.
    func clamped(to range: ClosedRange<Double>) -> Double {
        self > range.lowerBound ? min(self, range.upperBound) : range.lowerBound
    }
}
