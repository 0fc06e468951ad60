import CZlib

/// A zlib stream that inflates.
final class ZlibStream {
    /// Allocated separately, because zlib keeps the stream's address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    /// Returns nil if memory ran out.
    ///
    /// - Parameter windowBits: As for `inflateInit2`: 15 for the zlib format, 31 for gzip, −15 for raw deflate.
    init?(windowBits: Int32) {
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Starts a new stream of the same format.
    func reset() { inflateReset(stream) }

    /// Inflates until the input is consumed, the output is full, or the stream ends.
    ///
    /// - Parameter count: The number of bytes in the output.
    /// - Returns: Whether the stream has ended.
    func inflate(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, count: inout Int
    ) throws(ContentCodingFailure) -> Bool {
        while true {
            let (available, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count - count))
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = available
            stream.pointee.next_out = output.baseAddress.map { ($0 + count).assumingMemoryBound(to: UInt8.self) }
            stream.pointee.avail_out = room
            let status = CZlib.inflate(stream, Z_NO_FLUSH)
            input.removeFirst(Int(available - stream.pointee.avail_in))
            count += Int(room - stream.pointee.avail_out)
            switch status {
            case Z_STREAM_END: return true
            case Z_OK where !input.isEmpty && count < output.count: continue
            case Z_OK, Z_BUF_ERROR: return false
            case Z_MEM_ERROR: throw .outOfMemory
            default: throw .broken(stream.pointee.msg.map { String(cString: $0) } ?? "zlib's code \(status)")
            }
        }
    }
}

/// Decodes the `deflate` content coding: a stream in the zlib format (RFC 1950), or a raw one (RFC 1951), which some servers
/// send.
final class DeflateCoding: ContentCoding {
    private enum State {
        case start
        /// The first byte has arrived. The second determines the format.
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

    /// Returns whether two bytes are a zlib header (RFC 1950, section 2.2). A raw stream with the same first bytes would begin
    /// with a stored block whose padding isn't zero.
    private static func beginsZlibFormat(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    }
}

/// Decodes the `gzip` content coding: one or more members, optionally followed by zeros (RFC 1952, section 2.2).
final class GzipCoding: ContentCoding {
    private enum State {
        case start
        case member
        case betweenMembers
        case padding
    }

    private let stream: ZlibStream
    private var state = State.start

    init?() {
        guard let stream = ZlibStream(windowBits: 31) else { return nil }
        self.stream = stream
    }

    var isComplete: Bool { state != .member }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingFailure) -> Int {
        var count = 0
        while true {
            switch state {
            case .start:
                guard !input.isEmpty else { return count }
                state = .member
            case .member:
                guard try stream.inflate(&input, into: output, count: &count) else { return count }
                state = .betweenMembers
            case .betweenMembers:
                guard let byte = input.first else { return count }
                guard byte != 0 else {
                    state = .padding
                    continue
                }
                guard byte == 0x1F else { throw .excess }
                stream.reset()
                state = .member
            case .padding:
                guard input.allSatisfy({ $0 == 0 }) else { throw .excess }
                input.removeFirst(input.count)
                return count
            }
        }
    }
}
