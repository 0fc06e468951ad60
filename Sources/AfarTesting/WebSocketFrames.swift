import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

/// Parses the frames that a WebSocket client sends, and encodes the server's frames (RFC 6455, section 5). The received bytes can
/// be divided at any position.
struct WebSocketFrames {
    enum Event {
        case message(URLSessionWebSocketTask.Message)
        case ping(Data)
        case pong(Data)
        case close(WebSocketCloseCode)
    }

    /// A violation of the protocol by the client.
    struct Violation: Error {
        let description: String
    }

    private enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    private struct Frame {
        let opcode: Opcode
        let isFinal: Bool
        let payload: [UInt8]
    }

    /// The maximum number of bytes in the payload of a control frame (RFC 6455, section 5.5).
    private static let maximumControlBytes = 125

    private var bytes: [UInt8] = []
    /// The number of bytes that have been parsed.
    private var offset = 0
    /// The message whose last frame hasn't arrived.
    private var message: (isText: Bool, payload: [UInt8])?

    // MARK: Parsing

    mutating func append(_ more: Data) {
        bytes.removeFirst(offset)
        offset = 0
        bytes += more
    }

    /// Returns the next message or control frame, or `nil` if more bytes are needed.
    mutating func next() throws(Violation) -> Event? {
        while let frame = try nextFrame() {
            switch frame.opcode {
            case .ping: return .ping(Data(frame.payload))
            case .pong: return .pong(Data(frame.payload))
            case .close: return .close(try closeCode(in: frame.payload))
            case .text, .binary:
                guard message == nil else {
                    throw Violation(description: "a message begins before the previous one has ended")
                }
                message = (frame.opcode == .text, frame.payload)
            case .continuation:
                guard message != nil else { throw Violation(description: "a continuation frame has no message") }
                message?.payload += frame.payload
            }
            guard frame.isFinal, let (isText, payload) = message.take() else { continue }
            guard isText else { return .message(.data(Data(payload))) }
            guard let text = String(validating: payload, as: UTF8.self) else {
                throw Violation(description: "a text is not UTF-8")
            }
            return .message(.string(text))
        }
        return nil
    }

    private mutating func nextFrame() throws(Violation) -> Frame? {
        let rest = bytes[offset...]
        guard let first = rest.first, let second = rest.dropFirst().first else { return nil }
        guard first & 0x70 == 0, let opcode = Opcode(rawValue: first & 0x0F) else {
            throw Violation(description: "a frame has an unknown opcode or reserved bits")
        }
        guard second & 0x80 != 0 else { throw Violation(description: "a frame isn't masked") }
        let isFinal = first & 0x80 != 0
        let sizeCount = second & 0x7F == 127 ? 8 : second & 0x7F == 126 ? 2 : 0
        let head = rest.prefix(2 + sizeCount + 4)
        guard head.count == 2 + sizeCount + 4 else { return nil }
        let size = head.dropFirst(2).prefix(sizeCount).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard size <= UInt64(Int32.max) else { throw Violation(description: "a frame is longer than 2 GiB") }
        let count = sizeCount == 0 ? Int(second & 0x7F) : Int(size)
        guard !opcode.isControl || isFinal && count <= Self.maximumControlBytes else {
            throw Violation(description: "a control frame is fragmented or too long")
        }
        guard rest.endIndex - head.endIndex >= count else { return nil }
        var payload = Array(rest[head.endIndex...].prefix(count))
        let mask = Array(head.suffix(4))
        for index in payload.indices { payload[index] ^= mask[index & 3] }
        offset += head.count + count
        return Frame(opcode: opcode, isFinal: isFinal, payload: payload)
    }

    private func closeCode(in payload: [UInt8]) throws(Violation) -> WebSocketCloseCode {
        guard !payload.isEmpty else { return .noStatusReceived }
        guard payload.count >= 2 else { throw Violation(description: "a close frame has an incomplete code") }
        return WebSocketCloseCode(rawValue: Int(payload[0]) << 8 | Int(payload[1]))
    }

    // MARK: Encoding

    /// The maximum number of payload bytes in one frame of a message. Longer messages are fragmented.
    private static let maximumFragment = 16 * 1024

    static func encode(_ message: URLSessionWebSocketTask.Message) -> Data {
        let (opcode, payload) =
            switch message {
            case .string(let text): (Opcode.text, Array(text.utf8))
            case .data(let data): (Opcode.binary, Array(data))
            @unknown default: (Opcode.binary, [])
            }
        var frames = Data()
        var start = 0
        repeat {
            let fragment = payload[start...].prefix(maximumFragment)
            append(
                start == 0 ? opcode : .continuation, fragment, isFinal: fragment.endIndex == payload.count, to: &frames)
            start = fragment.endIndex
        } while start < payload.count
        return frames
    }

    /// Returns a ping frame. The payload has at most 125 bytes.
    static func ping(_ payload: Data) -> Data { control(.ping, payload) }

    /// Returns a pong frame. The payload has at most 125 bytes.
    static func pong(_ payload: Data) -> Data { control(.pong, payload) }

    /// Returns a close frame (RFC 6455, section 5.5.1). A reason that is too long is truncated after a complete character. Codes
    /// that don't fit into 16 bits are omitted.
    static func close(_ code: WebSocketCloseCode, reason: String) -> Data {
        guard code != .noStatusReceived, let number = UInt16(exactly: code.rawValue) else {
            return control(.close, Data())
        }
        var payload = Data([UInt8(number >> 8), UInt8(number & 0xFF)])
        for character in reason.unicodeScalars {
            let bytes = String(character).utf8
            guard payload.count + bytes.count <= maximumControlBytes else { break }
            payload.append(contentsOf: bytes)
        }
        return control(.close, payload)
    }

    private static func control(_ opcode: Opcode, _ payload: Data) -> Data {
        var frame = Data()
        append(opcode, Array(payload)[...], isFinal: true, to: &frame)
        return frame
    }

    private static func append(_ opcode: Opcode, _ payload: ArraySlice<UInt8>, isFinal: Bool, to frames: inout Data) {
        frames.append((isFinal ? 0x80 : 0) | opcode.rawValue)
        // A fragment has at most 16 KiB, so its length fits into two bytes.
        if payload.count <= 125 {
            frames.append(UInt8(payload.count))
        } else {
            frames.append(contentsOf: [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)])
        }
        frames.append(contentsOf: payload)
    }

    // MARK: Handshake

    /// Returns the value of `Sec-WebSocket-Accept` for a client's key (RFC 6455, section 4.2.2). Returns `nil` if SHA-1 isn't available.
    static func acceptance(of key: String) -> String? {
        let bytes = Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        #if canImport(CryptoKit)
            return Data(Insecure.SHA1.hash(data: bytes)).base64EncodedString()
        #else
            var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard EVP_Digest(bytes, bytes.count, &hash, &count, EVP_sha1(), nil) == 1 else {
                ERR_clear_error()
                return nil
            }
            return Data(hash.prefix(Int(count))).base64EncodedString()
        #endif
    }
}
