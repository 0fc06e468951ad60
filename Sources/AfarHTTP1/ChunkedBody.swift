import AfarTransport

/// A body in the chunked transfer coding (RFC 9112, section 7.1).
struct ChunkedBody {
    private enum State {
        /// Reads the digits of a chunk's size.
        case size(Int64, digitCount: Int)
        /// Reads the whitespace after the size, before an extension or the end of the line.
        case padding(Int64)
        case chunkExtension(Int64)
        /// Reads the LF of the line with the size, after the CR.
        case sizeLineFeed(Int64)
        case data(remaining: Int64)
        case dataEnd
        /// Reads the LF after a chunk's data and the CR.
        case dataLineFeed
        case trailers
        case complete
    }

    /// The maximum value of ``overhead``. Chunk extensions are ignored.
    private static let overheadLimit = 16 * 1024
    /// The maximum number of digits in a chunk's size, including leading zeros.
    private static let digitLimit = 16

    private var state = State.size(0, digitCount: 0)
    /// The number of bytes of padding and extensions so far, minus twice the number of data bytes.
    private var overhead: Int64 = 0
    /// Whether a line ended with LF alone. Not all recipients accept this, so the connection isn't reused.
    private(set) var hasBareLineFeed = false

    var isComplete: Bool { if case .complete = state { true } else { false } }

    /// Returns the next range of chunk data; nil if the parser needs more bytes or the body is complete.
    ///
    /// - Parameter lines: Receives the trailer section.
    mutating func next(
        in bytes: UnsafeRawBufferPointer, at offset: inout Int, lines: inout HeadLines
    ) throws(Fault) -> Range<Int>? {
        while offset < bytes.count {
            switch state {
            case .data(let remaining):
                let count = Int(min(Int64(bytes.count - offset), remaining))
                state = Int64(count) == remaining ? .dataEnd : .data(remaining: remaining - Int64(count))
                defer { offset += count }
                return offset..<(offset + count)
            case .trailers:
                if try lines.append(bytes, from: &offset) { state = .complete }
            case .complete: return nil
            default:
                try take(bytes[offset])
                offset += 1
            }
        }
        return nil
    }

    /// Parses a byte of the framing.
    private mutating func take(_ byte: UInt8) throws(Fault) {
        switch (state, byte) {
        case (.size(let size, let digitCount), _):
            guard let digit = byte.hexDigitValue else {
                guard digitCount > 0 else { throw .malformed("a chunk has no size (RFC 9112, section 7.1)") }
                return try endSize(size, byte)
            }
            guard digitCount < Self.digitLimit, size <= Int64.max >> 4 else {
                throw .malformed("a chunk's size has too many digits")
            }
            state = .size(size << 4 | Int64(digit), digitCount: digitCount + 1)
        case (.padding(let size), _): try endSize(size, byte)
        case (.chunkExtension(let size), 0x0D): state = .sizeLineFeed(size)
        case (.chunkExtension, 0x0A):
            throw .malformed("a chunk extension ends with LF instead of CRLF (RFC 9112, section 7.1)")
        case (.chunkExtension, 0): throw .malformed("a chunk extension has a NUL byte")
        case (.chunkExtension, _): try countOverhead()
        case (.sizeLineFeed(let size), 0x0A): beginChunk(size)
        case (.dataEnd, 0x0D): state = .dataLineFeed
        case (.dataLineFeed, 0x0A): state = .size(0, digitCount: 0)
        case (.dataEnd, 0x0A):
            hasBareLineFeed = true
            state = .size(0, digitCount: 0)
        case (.dataEnd, _): throw .malformed("a chunk is longer than its size")
        default: throw .malformed("a chunk or its size ends with CR instead of CRLF (RFC 9112, section 2.2)")
        }
    }

    private mutating func endSize(_ size: Int64, _ byte: UInt8) throws(Fault) {
        switch byte {
        case 0x0D: state = .sizeLineFeed(size)
        case 0x0A:
            hasBareLineFeed = true
            beginChunk(size)
        case 0x20, 0x09:
            try countOverhead()
            state = .padding(size)
        case UInt8(ascii: ";"): state = .chunkExtension(size)
        default: throw .malformed("a chunk's size is not a hexadecimal number (RFC 9112, section 7.1)")
        }
    }

    private mutating func beginChunk(_ size: Int64) {
        overhead = max(0, overhead - 2 * min(size, Int64(Self.overheadLimit)))
        state = size == 0 ? .trailers : .data(remaining: size)
    }

    private mutating func countOverhead() throws(Fault) {
        overhead += 1
        guard overhead <= Self.overheadLimit else {
            throw .malformed("the chunk extensions exceed the chunks by \(Self.overheadLimit) bytes")
        }
    }
}
