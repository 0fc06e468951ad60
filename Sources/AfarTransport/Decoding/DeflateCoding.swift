/// The coding deflate: a stream in the zlib format (RFC 1950), or a raw one (RFC 1951), which some servers send.
final class DeflateCoding: ContentCoding {
    private enum State {
        case start
        /// The first byte has arrived. The second shows the format.
        case first(UInt8)
        case stream
        case end
    }

    private var stream: ZlibStream?
    private var state = State.start

    init() {}

    var isComplete: Bool {
        switch state {
        case .start, .end: true
        case .first, .stream: false
        }
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int {
        var count = 0
        while true {
            switch state {
            case .start:
                guard let byte = input.first else { return count }
                input.removeFirst(1)
                state = .first(byte)
            case .first(let byte):
                guard let next = input.first else { return count }
                stream = ZlibStream(windowBits: Self.beginsZlibFormat(byte, next) ? 15 : -15)
                let isEnd = try withUnsafeBytes(of: byte) { (bytes) throws(ContentCodingFailure) in
                    var bytes = bytes
                    return try inflate(&bytes, into: output, count: &count)
                }
                state = isEnd ? .end : .stream
            case .stream:
                guard try inflate(&input, into: output, count: &count) else { return count }
                state = .end
            case .end:
                guard input.isEmpty else { throw .excess }
                return count
            }
        }
    }

    private func inflate(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, count: inout Int
    ) throws(ContentCodingFailure) -> Bool {
        guard stream != nil else { throw .outOfMemory }
        return try stream?.inflate(&input, into: output, count: &count) ?? false
    }

    /// RFC 1950, section 2.2. A raw stream that begins so would begin with a stored block whose padding isn't zero.
    private static func beginsZlibFormat(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    }
}
