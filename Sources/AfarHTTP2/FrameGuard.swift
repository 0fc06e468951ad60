import AfarHTTP1
import AfarTransport
import CNghttp2

/// The header of a frame (RFC 9113, section 4.1).
struct FrameHeader {
    static let byteCount = 9

    let length: Int
    let type: UInt8
    let flags: UInt8
    let streamID: Int32

    /// Reads a header from the first bytes of a frame.
    init(_ bytes: UnsafeRawBufferPointer.SubSequence) {
        let start = UnsafeRawBufferPointer(rebasing: bytes)
        let first = UInt32(bigEndian: start.loadUnaligned(as: UInt32.self))
        (length, type, flags) = (Int(first >> 8), UInt8(truncatingIfNeeded: first), start[4])
        streamID = Int32(bigEndian: start.loadUnaligned(fromByteOffset: 5, as: Int32.self)) & .max
    }

    func hasFlag(_ flag: nghttp2_flag) -> Bool { flags & UInt8(flag.rawValue) != 0 }

    func isType(_ type: nghttp2_frame_type) -> Bool { UInt32(self.type) == type.rawValue }
}

/// Checks the header of each received frame before the frame is processed. The checks include frames that nghttp2 ignores.
///
/// A frame that carries no content uses one unit of a budget, so that a server can't keep the client busy with such frames (RFC 9113,
/// section 10.5). Progress of requests adds to the budget.
struct FrameGuard {
    /// A violation, and the error code to report to the server.
    struct Violation: Error {
        let fault: Fault
        let code: nghttp2_error_code
    }

    private static let baseBudget = 1_000

    private let maximumHeaderBlockSize: Int
    private var budget = Self.baseBudget
    private var headerBlockSize = 0
    private var hasSettings = false

    init(maximumHeaderBlockSize: Int) { self.maximumHeaderBlockSize = maximumHeaderBlockSize }

    mutating func check(_ header: FrameHeader) throws(Violation) {
        if !hasSettings {
            // RFC 9113, section 3.4.
            guard header.isType(NGHTTP2_SETTINGS), !header.hasFlag(NGHTTP2_FLAG_ACK), header.streamID == 0 else {
                // In an HTTP/1.1 response, the letters "HTT" are in the place of the length.
                let isHTTP1 = header.length == 0x48_5454 && header.type == UInt8(ascii: "P")
                throw Violation(
                    fault: .malformed(
                        isHTTP1
                            ? "the server responded with HTTP/1, but HTTP/2 was expected"
                            : "the server's first HTTP/2 frame isn't SETTINGS (RFC 9113, section 3.4)"),
                    code: NGHTTP2_PROTOCOL_ERROR)
            }
            hasSettings = true
        }
        if header.isType(NGHTTP2_PUSH_PROMISE) {
            throw Violation(
                fault: .malformed("the server pushed a response, although push is disabled (RFC 9113, section 8.4)"),
                code: NGHTTP2_PROTOCOL_ERROR)
        }
        if header.isType(NGHTTP2_HEADERS) { headerBlockSize = 0 }
        if header.isType(NGHTTP2_HEADERS) || header.isType(NGHTTP2_CONTINUATION) {
            headerBlockSize += header.length
            guard headerBlockSize <= maximumHeaderBlockSize else {
                throw Violation(
                    fault: Fault(.headTooLarge, "an HTTP/2 header block exceeds \(maximumHeaderBlockSize) bytes"),
                    code: NGHTTP2_ENHANCE_YOUR_CALM)
            }
        }
        // A padded frame may have no content, so it uses the budget until content arrives.
        if header.isType(NGHTTP2_DATA), header.length > 0, !header.hasFlag(NGHTTP2_FLAG_PADDED) { return }
        budget -= 1
        guard budget >= 0 else {
            throw Violation(
                fault: .malformed("the server sent too many HTTP/2 frames without content"),
                code: NGHTTP2_ENHANCE_YOUR_CALM)
        }
    }

    /// Adds to the budget after progress. The maximum budget grows with the number of active streams.
    mutating func allow(_ frameCount: Int, activeStreams: Int) {
        let limit = Self.baseBudget + 16 * activeStreams
        budget = max(budget, min(budget + frameCount, limit))
    }

    mutating func refill() { budget = max(budget, Self.baseBudget) }
}
