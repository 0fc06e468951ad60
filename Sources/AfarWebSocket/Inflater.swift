import CZlib
import Foundation

/// Decompresses messages (RFC 7692, section 7.2.2).
///
/// One thread at a time may use it.
final class Inflater: @unchecked Sendable {
    // Sendable because its owner is a value that one task at a time changes.

    /// zlib keeps the stream's address, so it must stay where it is.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let keepsContext: Bool

    init(keepsContext: Bool) throws {
        self.keepsContext = keepsContext
        stream.initialize(to: z_stream())
        let status = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw CocoaError(.coderReadCorrupt) }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// - Parameter limit: How long the result may become.
    func inflate(
        _ part: UnsafeRawBufferPointer, into result: inout Data, limit: Int
    ) throws(WebSocketViolation) {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: part.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: part.count)
        var failure: WebSocketViolation?
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32 * 1024) { buffer in
            repeat {
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(buffer.count)
                let status = CZlib.inflate(stream, Z_SYNC_FLUSH)
                result.append(contentsOf: buffer.prefix(buffer.count - Int(stream.pointee.avail_out)))
                switch status {
                case _ where result.count > limit: failure = .messageTooBig(limit)
                case Z_OK: break
                // Nothing was left to do.
                case Z_BUF_ERROR: return
                // A block that says it is the last one: another message may come all the same.
                case Z_STREAM_END: inflateReset(stream)
                default: failure = .invalidText("a compressed message cannot be decompressed")
                }
            } while failure == nil && (stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0)
        }
        if let failure { throw failure }
    }

    func messageEnded() { if !keepsContext { inflateReset(stream) } }
}
