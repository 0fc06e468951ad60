package import Foundation

/// The frames that a client sends (RFC 6455, section 5).
package enum WebSocketFrame {
    /// The type of a frame (RFC 6455, section 5.2).
    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    /// The maximum number of bytes in the payload of a control frame (RFC 6455, section 5.5).
    package static let maximumControlBytes = 125

    /// Returns a message in one frame, with the mask that clients must use (RFC 6455, section 5.3).
    ///
    /// - Parameter isCompressed: Whether the payload was compressed (RFC 7692, section 6).
    package static func encode(
        _ opcode: Opcode, _ payload: some ContiguousBytes, isCompressed: Bool = false,
        mask: UInt32 = .random(in: .min ... .max)
    ) -> Data {
        payload.withUnsafeBytes { payload in
            var frame = Data(capacity: payload.count + 14)
            frame.append(0x80 | (isCompressed ? 0x40 : 0) | opcode.rawValue)
            switch payload.count {
            case ...125: frame.append(0x80 | UInt8(payload.count))
            case ...0xFFFF:
                frame.append(0x80 | 126)
                withUnsafeBytes(of: UInt16(payload.count).bigEndian) { frame.append(contentsOf: $0) }
            default:
                frame.append(0x80 | 127)
                withUnsafeBytes(of: UInt64(payload.count).bigEndian) { frame.append(contentsOf: $0) }
            }
            withUnsafeBytes(of: mask) { frame.append(contentsOf: $0) }
            let start = frame.count
            frame.append(contentsOf: payload)
            frame.withUnsafeMutableBytes { Self.apply(mask, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
            return frame
        }
    }

    /// Masks bytes in place, eight at a time.
    private static func apply(_ mask: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        let wide = UInt64(mask) | UInt64(mask) << 32
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            bytes.storeBytes(of: word ^ wide, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        withUnsafeBytes(of: wide) { key in
            for rest in offset..<bytes.count { bytes[rest] ^= key[rest - offset] }
        }
    }

    /// Returns the payload of a close frame (RFC 6455, section 5.5.1). A reason that is too long is truncated after a complete
    /// character.
    package static func closePayload(code: UInt16?, reason: String) -> Data {
        guard let code else { return Data() }
        var payload = withUnsafeBytes(of: code.bigEndian) { Data($0) }
        for character in reason.unicodeScalars {
            let bytes = String(character).utf8
            guard payload.count + bytes.count <= maximumControlBytes else { break }
            payload.append(contentsOf: bytes)
        }
        return payload
    }
}
