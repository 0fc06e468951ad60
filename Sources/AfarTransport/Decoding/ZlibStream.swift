import CZlib

/// A stream of zlib's that inflates.
final class ZlibStream {
    /// zlib keeps the stream's address.
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

    /// Begins to read another stream of the same format.
    func reset() { inflateReset(stream) }

    /// Inflates until the input or the room in the output is used up, or until the end of the stream.
    ///
    /// - Parameter count: The bytes in the output.
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
