import AfarTransport

/// The header Content-Range of one part, or of none (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    /// The bytes that follow; nil when the range asked for is not there: `bytes */1234`.
    let bytes: ClosedRange<Int64>?
    /// The length of the whole; nil for `*`.
    let totalLength: Int64?

    /// Nil when the value is in another unit than bytes, or breaks the rules.
    init?(_ value: String) {
        let parts = value.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        totalLength = Self.number(sides[1])
        guard totalLength != nil || sides[1] == "*" else { return nil }
        guard sides[0] != "*" else {
            bytes = nil
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < totalLength ?? .max
        else { return nil }
        bytes = first...last
    }

    /// Digits only: `Int64` would take a sign too.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}
