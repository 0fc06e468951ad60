import CZlib
import Foundation

/// Compresses one body with zlib.
final class Deflater {
    enum Format {
        case zlib
        case gzip

        /// zlib's value for the format: the maximum window size, plus 16 for a gzip header.
        fileprivate var windowBits: Int32 {
            switch self {
            case .zlib: 15
            case .gzip: 31
            }
        }
    }

    /// zlib keeps the stream's address, so the stream must not move.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init(_ format: Format) throws {
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, format.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw failure(status) }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Returns the compressed data. Call this method once.
    func compress(_ data: Data) throws -> Data {
        var result = Data()
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            repeat {
                // zlib's counters have 32 bits.
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
                rest = rest.dropFirst(piece.count)
                try write(piece, isLast: rest.isEmpty, to: &result)
            } while !rest.isEmpty
        }
        return result
    }

    private func write(_ piece: UnsafeRawBufferPointer, isLast: Bool, to result: inout Data) throws {
        stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(piece.count)
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64 * 1024) { buffer in
            repeat {
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(buffer.count)
                let status = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                // `Z_BUF_ERROR` means that no input was left.
                guard status >= Z_OK || status == Z_BUF_ERROR else { throw failure(status) }
                result.append(contentsOf: buffer.prefix(buffer.count - Int(stream.pointee.avail_out)))
            } while stream.pointee.avail_out == 0
        }
    }

    private func failure(_ status: Int32) -> CompressionError {
        CompressionError(status: status, message: stream.pointee.msg.map { String(cString: $0) } ?? "")
    }
}
