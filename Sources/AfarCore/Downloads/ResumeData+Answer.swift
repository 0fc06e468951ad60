import HTTPTypes

extension ResumeData {
    /// The meaning of a server's response to a request for the rest of a file.
    enum Answer: Equatable {
        /// Exactly the rest follows; the whole file has this length.
        case rest(totalLength: Int64)
        /// The whole file follows from its first byte: it has changed, or the server doesn't support ranges.
        case whole
        /// The part already has the length of the whole file. The response doesn't confirm that the bytes are the same.
        case nothingLeft(totalLength: Int64)
        /// The part that follows doesn't fit.
        case misfit
        /// The response isn't the file: an error or a redirect.
        case other
    }

    /// - Parameter offset: The first byte requested.
    func answer(in head: ResponseHead, from offset: Int64) -> Answer {
        switch head.status {
        case 200, 203: .whole
        case 206: rest(in: head, from: offset)
        case 416: end(in: head)
        default: .other
        }
    }

    /// RFC 9110, section 15.3.7. Parts can be combined only if they belong to the same representation: same validator, same
    /// length and no gap. A validator is valid only for its origin.
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

/// A Content-Range header of a single part or of an unsatisfied range (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    /// The bytes that follow; nil if the requested range doesn't exist: `bytes */1234`.
    let bytes: ClosedRange<Int64>?
    /// The length of the whole file; nil for `*`.
    let totalLength: Int64?

    /// Returns nil if the unit isn't bytes or the value is invalid.
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

    /// Digits only, because `Int64` also accepts a sign.
    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}
