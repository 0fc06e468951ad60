import CZlib
package import Foundation

/// Compresses messages (RFC 7692, section 7.2.1). One thread at a time may use it.
package final class MessageDeflater {
    /// Shorter messages are sent as they are: compression would not pay.
    private static let leastBytes = 64

    /// zlib keeps the stream's address, so it must stay where it is.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let keepsContext: Bool

    /// Nil when there is no compressor for what was agreed on, which means that messages are sent as they are.
    package init?(_ agreement: MessageDeflate) {
        keepsContext = agreement.clientKeepsContext
        stream.initialize(to: z_stream())
        // zlib has no window of 256 bytes.
        let isPossible =
            agreement.clientWindowBits >= 9
            && deflateInit2_(
                stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -agreement.clientWindowBits, 8, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        if !isPossible { return nil }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// The message compressed; nil when it is to be sent as it is.
    package func compress(_ message: some ContiguousBytes) -> Data? {
        message.withUnsafeBytes { bytes in
            guard (Self.leastBytes...Int(Int32.max)).contains(bytes.count) else { return nil }
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            var result = Data()
            let isDone = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32 * 1024) { buffer in
                repeat {
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    let status = deflate(stream, Z_SYNC_FLUSH)
                    guard status == Z_OK || status == Z_BUF_ERROR else { return false }
                    result.append(contentsOf: buffer.prefix(buffer.count - Int(stream.pointee.avail_out)))
                } while stream.pointee.avail_out == 0
                return true
            }
            guard isDone, result.suffix(4).elementsEqual([0, 0, 0xFF, 0xFF]) else { return nil }
            if !keepsContext { deflateReset(stream) }
            return result.dropLast(4)
        }
    }
}
