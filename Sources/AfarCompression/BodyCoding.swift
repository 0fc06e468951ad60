public import Foundation

/// A content coding for request bodies (RFC 9110, section 8.4.1).
///
/// This module provides ``DeflateCoding`` and ``GzipCoding``. Conform a type to this protocol to use another coding with
/// ``RequestCompressor``.
public protocol BodyCoding: Sendable {
    /// The coding's name in `Content-Encoding`.
    static var name: String { get }

    /// Returns the encoded data.
    ///
    /// - Throws: An error if encoding fails. The request then fails with `AFError.requestAdaptationFailed`.
    static func encode(_ data: Data) throws -> Data
}

/// The coding `deflate`: the zlib format (RFC 1950), as RFC 9110, section 8.4.1.2, defines it.
public enum DeflateCoding: BodyCoding {
    /// `deflate`
    public static let name = "deflate"

    /// Returns the data in the zlib format.
    ///
    /// - Throws: ``CompressionError`` if zlib fails.
    public static func encode(_ data: Data) throws -> Data {
        try Deflater(.zlib).compress(data)
    }
}

/// The coding `gzip` (RFC 1952), without a file name or a time.
public enum GzipCoding: BodyCoding {
    /// `gzip`
    public static let name = "gzip"

    /// Returns the data in the gzip format.
    ///
    /// - Throws: ``CompressionError`` if zlib fails.
    public static func encode(_ data: Data) throws -> Data {
        try Deflater(.gzip).compress(data)
    }
}
