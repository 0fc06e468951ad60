/// Checks piece by piece whether bytes are UTF-8 (RFC 3629, section 4), so that wrong text is refused as soon as it can be.
struct UTF8Check {
    /// How many bytes the character that has begun still needs.
    private var missing = 0
    /// What the next of them may be.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether no character has begun that is not complete.
    var isComplete: Bool { missing == 0 }

    /// Takes the next bytes. Returns false when no text can begin with what has come.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < bytes.count {
            if missing == 0, offset + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                offset += 8
                continue
            }
            guard accept(bytes[offset]) else { return false }
            offset += 1
        }
        return true
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard allowed.contains(byte) else { return false }
            (missing, allowed) = (missing - 1, 0x80...0xBF)
            return true
        }
        switch byte {
        case 0...0x7F: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
        case 0xED: (missing, allowed) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}
