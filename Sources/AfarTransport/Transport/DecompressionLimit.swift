/// A limit at which a compressed response body (`Content-Encoding`) is treated as a decompression bomb. A body exceeds it if it
/// has more than ``size`` decoded bytes, and more than ``ratio`` times as many decoded bytes as received bytes.
///
/// Both conditions are required, so no body is too large because of its size alone. The highest possible ratio of gzip and
/// deflate is about 1,030; brotli and zstd can exceed it by far. A disk image of zeros can exceed both limits: increase
/// ``ratio``, or set the limit to nil.
public struct DecompressionLimit: Sendable, Hashable {
    /// The number of decoded bytes that any body can have, whatever its ratio. The default is 1 GiB.
    public var size: Int64
    /// The number of decoded bytes per received byte that a body of any size can have. The default is 1,000.
    public var ratio: Int64

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - size: The number of decoded bytes that any body can have. The default is 1 GiB.
    ///   - ratio: The number of decoded bytes per received byte that a body of any size can have. The default is 1,000.
    public init(size: Int64 = 1 << 30, ratio: Int64 = 1_000) {
        self.size = size
        self.ratio = ratio
    }

    /// Returns whether a body exceeds the limit.
    ///
    /// - Parameters:
    ///   - decoded: The number of bytes decoded so far.
    ///   - received: The number of bytes received so far, or the body's total encoded size.
    public func isExceeded(by decoded: Int64, from received: Int64) -> Bool {
        guard decoded > size else { return false }
        let (most, isOverflowing) = max(0, received).multipliedReportingOverflow(by: max(0, ratio))
        return !isOverflowing && decoded > most
    }

    /// A message that explains how a body exceeded this limit.
    package var message: String {
        "the body has more than \(size) bytes decoded, and over \(ratio) to each received (decompressionLimit)"
    }
}
