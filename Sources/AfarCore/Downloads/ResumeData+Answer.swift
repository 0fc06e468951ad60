import HTTPTypes

extension ResumeData {
    /// What a server's answer to the question for the rest means.
    enum Answer: Equatable {
        /// The rest follows, and nothing else; the whole has this length.
        case rest(totalLength: Int64)
        /// The whole follows, from its first byte: the file has changed, or the server knows no ranges.
        case whole
        /// There is no rest: the whole has the length that is there. That the bytes are the same it does not say.
        case nothingLeft(totalLength: Int64)
        /// A part that does not fit follows.
        case misfit
        /// An answer about something else: an error, a redirect.
        case other
    }

    /// - Parameter offset: The first byte that was asked for.
    func answer(in head: ResponseHead, from offset: Int64) -> Answer {
        switch head.status {
        case 200, 203: .whole
        case 206: rest(in: head, from: offset)
        case 416: end(in: head)
        default: .other
        }
    }

    /// RFC 9110, section 15.3.7. Parts may be combined only if they are of the same representation: same validator, same
    /// length, and no gap; and a validator says nothing about what is elsewhere.
    private func rest(in head: ResponseHead, from offset: Int64) -> Answer {
        guard !head.isEncoded, head.origin == origin, !validator.isContradicted(by: head),
            let range = head.value(for: .contentRange).flatMap(ContentRange.init), let bytes = range.bytes,
            let length = range.totalLength ?? totalLength,
            bytes.lowerBound == offset, bytes.upperBound == length - 1, length == totalLength ?? length,
            head.contentLength.map({ $0 == length - offset }) ?? true
        else { return .misfit }
        return .rest(totalLength: length)
    }

    /// RFC 9110, section 15.5.17.
    private func end(in head: ResponseHead) -> Answer {
        guard let range = head.value(for: .contentRange).flatMap(ContentRange.init), range.bytes == nil,
            let length = range.totalLength, length == byteCount, totalLength == nil
        else { return .misfit }
        return .nothingLeft(totalLength: length)
    }
}

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
