/// An HTTP/2 frame (RFC 9113, section 4.1).
public struct HTTP2Frame: Sendable {
    /// The type.
    public let type: UInt8
    /// The flags.
    public let flags: UInt8
    /// The stream's identifier; 0 for the connection.
    public let stream: UInt32
    /// The bytes after the header.
    public let payload: [UInt8]

    /// Creates a frame.
    public init(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        (self.type, self.flags, self.stream, self.payload) = (type, flags, stream, payload)
    }

    /// The whole frame.
    public var bytes: [UInt8] {
        Array(Self.number(UInt32(payload.count)).dropFirst()) + [type, flags] + Self.number(stream) + payload
    }

    /// Creates a HEADERS frame with a complete header block.
    public static func headers(_ block: [UInt8], _ stream: UInt32 = 1, ends: Bool = false) -> Self {
        Self(1, flags: ends ? 5 : 4, stream: stream, block)
    }

    /// Creates a DATA frame.
    public static func data(_ text: String, _ stream: UInt32 = 1, ends: Bool = false) -> Self {
        Self(0, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
    }

    /// Creates a RST_STREAM frame.
    public static func reset(_ stream: UInt32, _ code: UInt32) -> Self { Self(3, stream: stream, number(code)) }

    /// Creates a GOAWAY frame.
    public static func goAway(last: UInt32, _ code: UInt32, _ debugData: String = "") -> Self {
        Self(7, number(last) + number(code) + Array(debugData.utf8))
    }

    /// Returns a literal field without indexing (RFC 7541, section 6.2.2).
    public static func field(_ name: String, _ value: String) -> [UInt8] { [0] + text(name) + text(value) }

    /// Returns a number as four bytes.
    public static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static func text(_ text: String) -> [UInt8] {
        let count = text.utf8.count
        guard count >= 127 else { return [UInt8(count)] + Array(text.utf8) }
        var (length, rest): ([UInt8], Int) = ([127], count - 127)
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return length + [UInt8(rest)] + Array(text.utf8)
    }
}
