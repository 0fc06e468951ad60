import ArgumentParser

/// A span of time from the command line, such as "10s".
struct TimeArgument: Equatable, CustomStringConvertible {
    /// The limits for the value of an option, in seconds.
    enum Range {
        /// From a millisecond to a week.
        static let limit = 0.001...604_800.0
        /// From zero, which means no limit, to a week.
        static let timeout = 0...604_800.0
        /// From a millisecond to a day.
        static let interval = 0.001...86_400.0
        /// From zero to a day.
        static let delay = 0...86_400.0
    }

    private static let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)]

    var seconds: Double

    var duration: Duration { .seconds(seconds) }

    /// The value as a timeout, for which 0 means no limit. Sessions don't measure timeouts from 31 years.
    var timeout: Double { seconds == 0 ? 1e9 : seconds }

    /// The number of seconds, rounded up.
    var wholeSeconds: Int { Int(seconds.rounded(.up)) }

    init(seconds: Double) { self.seconds = seconds }

    /// Parses a number with the unit ms, s, m or h. The default unit is seconds.
    ///
    /// - Throws: A `ValidationError` that names the option if the text isn't a time in the range.
    init(_ text: String, option: String, in range: ClosedRange<Double> = Range.limit) throws {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(number.count)
        guard let value = Double(number), let scale = Self.units.first(where: { $0.0 == unit })?.1,
            range.contains(value * scale)
        else {
            let (shortest, longest) = (Self(seconds: range.lowerBound), Self(seconds: range.upperBound))
            throw ValidationError(
                "\(option) requires a time from \(shortest) to \(longest), such as 10s, 500ms or 2m, not \"\(text)\".")
        }
        seconds = value * scale
    }

    /// The shortest form: "1ms", "30" or "24h".
    var description: String {
        func text(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }
        if seconds > 0, seconds < 1 { return text((seconds * 1_000_000).rounded() / 1000) + "ms" }
        return seconds >= 3600 && seconds.remainder(dividingBy: 3600) == 0 ? text(seconds / 3600) + "h" : text(seconds)
    }
}
