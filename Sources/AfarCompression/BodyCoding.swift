public import Foundation

/// A content coding that the bodies of requests can be sent in, see RFC 9110, section 8.4.1.
///
/// ``DeflateCoding`` and ``GzipCoding`` are here. A conformance of your own gives a ``RequestCompressor`` for another.
public protocol BodyCoding: Sendable {
    /// The coding's name, as it stands in `Content-Encoding`.
    static var name: String { get }

    /// The data in this coding.
    ///
    /// - Throws: What went wrong. The request fails with it, as `AFError.requestAdaptationFailed`.
    static func encode(_ data: Data) throws -> Data
}

/// The coding `deflate`: the zlib format of RFC 1950, which is what RFC 9110, section 8.4.1.2, means by the name.
public enum DeflateCoding: BodyCoding {
    /// `deflate`
    public static let name = "deflate"

    /// The data in the zlib format.
    ///
    /// - Throws: ``CompressionError``.
    public static func encode(_ data: Data) throws -> Data {
        try Deflater(.zlib).compress(data)
    }
}

/// The coding `gzip`: the format of RFC 1952, without a file name or a time.
public enum GzipCoding: BodyCoding {
    /// `gzip`
    public static let name = "gzip"

    /// The data in the gzip format.
    ///
    /// - Throws: ``CompressionError``.
    public static func encode(_ data: Data) throws -> Data {
        try Deflater(.gzip).compress(data)
    }
}
