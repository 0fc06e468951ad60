import Foundation

/// Cuts a body into lines, wherever its chunks end. A line ends with LF or CR LF, the last one also with the body.
struct LineSplitter: Sendable {
    enum Line: Equatable, Sendable {
        /// The line without its end.
        case whole(Data)
        /// A line that is longer than allowed; it was not kept.
        case tooLong
    }

    /// The bytes that a line may have.
    let maximumLength: Int
    /// The begin of a line whose rest has not come.
    private var partial = Data()
    /// Whether the rest of the current line is to be passed over.
    private var isPassing = false

    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// The lines that a chunk completes, and one that has become too long.
    mutating func split(_ chunk: Data) -> [Line] {
        var lines: [Line] = []
        var rest = chunk[...]
        while let end = rest.firstLineFeed {
            add(rest[..<end], to: &lines)
            if !isPassing { lines.append(takeLine()) }
            isPassing = false
            rest = rest[(end + 1)...]
        }
        add(rest, to: &lines)
        return lines
    }

    /// The last line, if the body did not end with a line's end.
    mutating func finish() -> Line? { partial.isEmpty ? nil : takeLine() }

    private mutating func add(_ bytes: Data, to lines: inout [Line]) {
        guard !isPassing else { return }
        partial += bytes
        // One more may be a CR that belongs to the line's end.
        guard partial.count - 1 > maximumLength else { return }
        partial = Data()
        isPassing = true
        lines.append(.tooLong)
    }

    private mutating func takeLine() -> Line {
        defer { partial = Data() }
        let line = partial.last == UInt8(ascii: "\r") ? Data(partial.dropLast()) : partial
        return line.count > maximumLength ? .tooLong : .whole(line)
    }
}

extension Data {
    /// Where the first LF is.
    fileprivate var firstLineFeed: Index? {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else { return nil }
            return startIndex + (UnsafeRawPointer(found) - start)
        }
    }
}
