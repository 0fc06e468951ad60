import Foundation

/// Commas after the last value of an array or an object, which are no JSON (RFC 8259, sections 4 and 5).
enum TrailingComma {
    /// Whether `JSONSerialization` takes them: it does on Linux, and nowhere else.
    static let isAcceptedByFoundation: Bool = {
        #if canImport(Darwin)
            false
        #else
            true
        #endif
    }()

    /// Whether there is one in a text in UTF-8 that is well-formed otherwise.
    static func isIn(_ text: Data) -> Bool {
        text.withUnsafeBytes { bytes in
            // Most texts hold nothing that looks like one, not even in a string, so strings need not be told apart.
            hasCandidate(bytes) && hasOneOutsideStrings(bytes)
        }
    }

    private static func hasCandidate(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for index in bytes.indices where isEnd(bytes[index]) {
            var before = index - 1
            while before >= 0, bytes[before].isJSONWhiteSpace { before -= 1 }
            if before >= 0, bytes[before] == UInt8(ascii: ",") { return true }
        }
        return false
    }

    private static func hasOneOutsideStrings(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var followsComma = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte.isJSONWhiteSpace { continue }
            if isEnd(byte), followsComma { return true }
            followsComma = byte == UInt8(ascii: ",")
            guard byte == UInt8(ascii: "\"") else { continue }
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index += 1
        }
        return false
    }

    /// Whether this is `]` or `}`, which differ from each other in one bit.
    private static func isEnd(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "}") }
}
