/// When a response's body that comes compressed (`Content-Encoding`) is taken for a decompression bomb: once it has more
/// than ``size`` bytes decoded, and these are more than ``ratio`` times as many as were received.
///
/// Both have to be exceeded, so no body is too large because of its size alone. The highest ratio that gzip and deflate
/// can reach is about 1,030; brotli and zstd can exceed it by far. A disk image of zeros may exceed both: raise
/// ``ratio``, or set the limit to nil.
public struct DecompressionLimit: Sendable, Hashable {
    /// The decoded bytes that any body may have. The default is 1 GiB.
    public var size: Int64
    /// The decoded bytes to each byte received that a body of any size may have. The default is 1,000.
    public var ratio: Int64

    /// Makes a limit; the default is 1 GiB, and 1,000 bytes to each.
    ///
    /// - Parameters:
    ///   - size: The decoded bytes that any body may have.
    ///   - ratio: The decoded bytes to each byte received that a body of any size may have.
    public init(size: Int64 = 1 << 30, ratio: Int64 = 1_000) {
        self.size = size
        self.ratio = ratio
    }

    /// Whether a body has become so large from so many bytes of its coded form.
    ///
    /// - Parameters:
    ///   - decoded: The decoded bytes so far.
    ///   - received: The bytes received for them, or that will be in all.
    public func isExceeded(by decoded: Int64, from received: Int64) -> Bool {
        guard decoded > size else { return false }
        let (most, isOverflowing) = max(0, received).multipliedReportingOverflow(by: max(0, ratio))
        return !isOverflowing && decoded > most
    }

    /// What a body did that has exceeded this limit.
    package var message: String {
        "the body has more than \(size) bytes decoded, and over \(ratio) to each received (decompressionLimit)"
    }
}
