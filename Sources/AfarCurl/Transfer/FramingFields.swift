import AfarTransport

/// Looks out for the header fields that say where a body ends and whether it is encoded, while the lines of a head go by.
///
/// Nearly all heads have at most one Content-Length, of digits only. Of those, and of heads without, this knows enough;
/// any other must be read again as a whole.
struct FramingFields {
    /// Whether ``contentLength`` and ``hasContentEncoding`` are all there is to say.
    private(set) var isPlain = true
    private(set) var contentLength: Int64?
    private(set) var hasContentEncoding = false
    /// Whether a line that begins with white space may continue the last one. libcurl ignores how a field continues that says where
    /// the body ends.
    private(set) var mayContinue = true

    mutating func note(_ line: UnsafeRawBufferPointer) {
        guard line.first != 0x20, line.first != 0x09 else {
            isPlain = false
            return
        }
        mayContinue = true
        switch line.first {
        case UInt8(ascii: "c"), UInt8(ascii: "C"):
            guard Self.names(line, "content-length:") else {
                if Self.names(line, "content-encoding:") { hasContentEncoding = true }
                return
            }
            let length = Self.number(in: line.dropFirst("content-length:".utf8.count))
            if length == nil || contentLength != nil { isPlain = false }
            contentLength = length
            mayContinue = false
        case UInt8(ascii: "t"), UInt8(ascii: "T"):
            guard Self.names(line, "transfer-encoding:") else { return }
            isPlain = false
            mayContinue = false
        default: break
        }
    }

    private static func names(_ line: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        line.count > name.utf8CodeUnitCount
            && name.withUTF8Buffer { name in
                name.indices.allSatisfy { line[$0].asciiLowercased == name[$0] }
            }
    }

    /// The value, when it is nothing but a number that surely fits.
    private static func number(in value: Slice<UnsafeRawBufferPointer>) -> Int64? {
        var number: Int64 = 0
        var digitCount = 0
        var isOver = false
        for byte in value {
            switch byte {
            case 0x30...0x39 where !isOver && digitCount < 18:
                number = number * 10 + Int64(byte - 0x30)
                digitCount += 1
            case 0x20, 0x09, 0x0D, 0x0A: isOver = digitCount > 0
            default: return nil
            }
        }
        return digitCount > 0 ? number : nil
    }
}
