import AfarTransport

/// Decodes a body in pieces.
///
/// If a buffer isn't accepted as a whole, libcurl delivers it again. This class then skips the bytes that it has already decoded.
final class BodyDecoding {
    static let pieceSize = 32 * 1024

    private let decoder: ContentDecoder
    /// The memory for decoded bytes, which is allocated when the first byte arrives.
    private var piece = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// How many bytes of the next delivery have already been decoded.
    private var repeatedCount = 0

    /// Returns nil for a body that isn't decoded.
    init?(_ head: ResponseHead, _ options: ExchangeOptions) {
        guard let decoder = ContentDecoder(for: head, options: options) else { return nil }
        self.decoder = decoder
    }

    deinit { piece.deallocate() }

    var encodedByteCount: Int64 { decoder.encodedByteCount }

    /// Whether more can be decoded without further input.
    var hasMore: Bool { decoder.hasMore }

    /// The bytes of a buffer that haven't been decoded yet.
    func undecodedBytes(of body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: body.dropFirst(repeatedCount))
    }

    /// Decodes bytes into a piece, which is valid until the next call.
    func decode(_ bytes: inout UnsafeRawBufferPointer) throws(Fault) -> UnsafeRawBufferPointer {
        if piece.isEmpty { piece = .allocate(byteCount: Self.pieceSize, alignment: 16) }
        do {
            let count = try decoder.decode(&bytes, into: piece)
            return UnsafeRawBufferPointer(rebasing: piece[..<count])
        } catch {
            throw Fault(error)
        }
    }

    /// Records that a buffer wasn't accepted. libcurl delivers it again, possibly in pieces of other sizes.
    func didReject(_ body: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer) {
        repeatedCount = max(repeatedCount, body.count - rest.count)
    }

    func didConsume(_ body: UnsafeRawBufferPointer) { repeatedCount = max(0, repeatedCount - body.count) }

    func finish() throws(Fault) {
        do { try decoder.finish() } catch { throw Fault(error) }
    }
}
