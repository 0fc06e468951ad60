public import AfarCompression
import CBrotli
import CZstandard
public import Foundation

/// The coding `br` (RFC 7932), with the system's libbrotlienc.
///
/// It compresses text better than gzip at about the same speed. Servers rarely decode it.
public enum BrotliCoding: BodyCoding {
    /// `br`
    public static let name = "br"

    /// Higher qualities, up to 11, save a few percent and take up to 50 times as long.
    private static let quality: Int32 = 5

    /// Returns the data in the Brotli format.
    ///
    /// - Throws: ``BodyCodingError`` if the library fails, usually because there is too little memory.
    public static func encode(_ data: Data) throws -> Data {
        let limit = BrotliEncoderMaxCompressedSize(data.count)
        guard limit > 0 else { throw BodyCodingError(coding: name, reason: "the body is too large") }
        return try data.coded(upTo: limit) { input, output in
            var count = output.count
            let isComplete = BrotliEncoderCompress(
                quality, Int32(BROTLI_DEFAULT_WINDOW), BROTLI_MODE_GENERIC, input.count,
                input.bindMemory(to: UInt8.self).baseAddress, &count, output.bindMemory(to: UInt8.self).baseAddress)
            guard isComplete == BROTLI_TRUE else {
                throw BodyCodingError(
                    coding: name, reason: "libbrotlienc failed, probably because of too little memory")
            }
            return count
        }
    }
}

/// The coding `zstd` (RFC 8878), with the system's libzstd.
///
/// It compresses several times as fast as gzip, and slightly better. Servers rarely decode it.
public enum ZstandardCoding: BodyCoding {
    /// `zstd`
    public static let name = "zstd"

    /// Returns the data in the Zstandard format.
    ///
    /// - Throws: ``BodyCodingError`` if the library fails, usually because there is too little memory.
    public static func encode(_ data: Data) throws -> Data {
        try data.coded(upTo: ZSTD_compressBound(data.count)) { input, output in
            let count = ZSTD_compress(
                output.baseAddress, output.count, input.baseAddress, input.count, Int32(ZSTD_CLEVEL_DEFAULT))
            guard ZSTD_isError(count) == 0 else {
                throw BodyCodingError(coding: name, reason: String(cString: ZSTD_getErrorName(count)))
            }
            return count
        }
    }
}

extension Data {
    /// Calls a closure that writes to a buffer, and returns the bytes that it has written.
    ///
    /// - Parameter body: Reads the data, writes to the buffer, and returns the number of written bytes.
    fileprivate func coded(
        upTo limit: Int, _ body: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> Data {
        var output = Data(count: limit)
        let count = try withUnsafeBytes { input in try output.withUnsafeMutableBytes { try body(input, $0) } }
        return output.prefix(count)
    }
}

/// An error from a compression library.
public struct BodyCodingError: Error, Sendable, Hashable {
    /// The coding, such as "br".
    public let coding: String
    /// What failed.
    public let reason: String
}

extension BodyCodingError: LocalizedError, CustomStringConvertible {
    /// The error on one line.
    public var description: String {
        "The body could not be compressed with \(coding): \(reason). Send it uncompressed."
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}
