/// A decoder for UTF-8. Decoding valid input takes as long as the standard library's validation.
struct UTF8Decoder: ChunkDecoder {
    private(set) var malformedOffset: Int?
    /// The bytes of an incomplete character.
    private var rest: [UInt8] = []
    /// The number of bytes decoded.
    private var decoded = 0

    mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        guard rest.isEmpty else {
            let joined = rest + bytes
            rest = []
            return joined.withUnsafeBufferPointer { decode($0) }
        }
        let length = bytes.count - Self.lengthOfPartAtEnd(of: bytes)
        rest = Array(bytes[length...])
        return text(of: UnsafeBufferPointer(rebasing: bytes[..<length]))
    }

    mutating func finish() -> String {
        defer { rest = [] }
        return rest.withUnsafeBufferPointer { text(of: $0) }
    }

    private mutating func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
        defer { decoded += bytes.count }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        if malformedOffset == nil { malformedOffset = decoded + Self.lengthOfWellFormedPart(of: bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the number of bytes of an incomplete character at the end (RFC 3629, section 4).
    private static func lengthOfPartAtEnd(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        for length in 1...3 where length <= bytes.count {
            let first = bytes[bytes.count - length]
            if first & 0xC0 == 0x80 { continue }
            let isPart = length == 1 || secondBytes(after: first).contains(bytes[bytes.count - length + 1])
            return isPart && lengthOfCharacter(beginningWith: first) > length ? length : 0
        }
        return 0
    }

    private static func lengthOfCharacter(beginningWith byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }

    private static func secondBytes(after byte: UInt8) -> ClosedRange<UInt8> {
        switch byte {
        case 0xE0: 0xA0...0xBF
        case 0xED: 0x80...0x9F
        case 0xF0: 0x90...0xBF
        case 0xF4: 0x80...0x8F
        default: 0x80...0xBF
        }
    }

    private static func lengthOfWellFormedPart(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var iterator = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        var length = 0
        while case .valid(let character) = parser.parseScalar(from: &iterator) { length += character.count }
        return length
    }
}

/// UTF-16 (Encoding Standard, section 14.2).
struct UTF16Rules: DecodingRules {
    let isReadyForASCII = false
    private let isBigEndian: Bool
    private var firstByte: UInt8?
    private var leadSurrogate: UInt32?

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        guard let first = firstByte else {
            firstByte = byte
            return .more
        }
        firstByte = nil
        let unit = isBigEndian ? UInt32(first) << 8 | UInt32(byte) : UInt32(byte) << 8 | UInt32(first)
        if let lead = leadSurrogate {
            leadSurrogate = nil
            guard unit & 0xFC00 == 0xDC00 else { return .malformedBeforeTwo(first, byte) }
            return .scalar(0x10000 + (lead & 0x3FF) << 10 + unit & 0x3FF)
        }
        switch unit & 0xFC00 {
        case 0xD800:
            leadSurrogate = unit
            return .more
        case 0xDC00: return .malformed
        default: return .scalar(unit)
        }
    }

    mutating func end() -> DecodingStep? {
        guard firstByte != nil || leadSurrogate != nil else { return nil }
        firstByte = nil
        leadSurrogate = nil
        return .malformed
    }
}

/// UTF-32 (the Unicode Standard, section 3.10).
struct UTF32Rules: DecodingRules {
    let isReadyForASCII = false
    private let isBigEndian: Bool
    private var bits: UInt32 = 0
    private var count = 0

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    mutating func take(_ byte: UInt8) -> DecodingStep {
        bits = bits << 8 | UInt32(byte)
        count += 1
        guard count == 4 else { return .more }
        let scalar = Unicode.Scalar(isBigEndian ? bits : bits.byteSwapped)
        bits = 0
        count = 0
        return scalar.map { .scalar($0.value) } ?? .malformed
    }

    mutating func end() -> DecodingStep? {
        guard count > 0 else { return nil }
        count = 0
        return .malformed
    }
}
