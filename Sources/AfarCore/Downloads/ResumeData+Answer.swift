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
