import Foundation

/// Redacts JSON values by key and preserves everything else in the text.
///
/// The text isn't limited to a single JSON value. JSON lines, truncated JSON and JSON that follows other text are
/// redacted too.
struct JSONRedaction {
    private let isSecret: (String) -> Bool
    private let text: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    /// For each open object and array, whether all its values are secret.
    private var levels: [Bool] = []
    /// Whether the next value belongs to a secret key.
    private var isValueSecret = false

    /// Returns the text with `"***"` instead of each string and 0 instead of each number below a secret key, at any
    /// depth. The values `true`, `false` and `null` reveal nothing and are preserved.
    static func redacted(_ text: Data, hiding isSecret: (String) -> Bool) -> Data {
        withoutActuallyEscaping(isSecret) { isSecret in
            var redaction = JSONRedaction(isSecret, Array(text))
            return redaction.run()
        }
    }

    private init(_ isSecret: @escaping (String) -> Bool, _ text: [UInt8]) {
        (self.isSecret, self.text) = (isSecret, text)
        output.reserveCapacity(text.count)
    }

    private mutating func run() -> Data {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""): string()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                levels.append(isHidden)
                isValueSecret = false
                copyByte()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = levels.popLast()
                isValueSecret = false
                copyByte()
            case UInt8(ascii: ","):
                isValueSecret = false
                copyByte()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): number()
            default: copyByte()
            }
        }
        return Data(output)
    }

    private var isHidden: Bool { isValueSecret || levels.last == true }

    private mutating func copyByte() {
        output.append(text[position])
        position += 1
    }

    private mutating func string() {
        let start = position
        position += 1
        while position < text.count, text[position] != UInt8(ascii: "\"") {
            position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, text.count)
        let next = text[position...].first { !isWhitespace($0) }
        if next == UInt8(ascii: ":") {
            isValueSecret = isSecret(Self.key(text[start..<position]))
            output += text[start..<position]
        } else {
            output += isHidden ? Array("\"***\"".utf8)[...] : text[start..<position]
            isValueSecret = false
        }
    }

    private mutating func number() {
        let start = position
        position = text[position...].firstIndex { !Self.numberBytes.contains($0) } ?? text.count
        output += isHidden ? [UInt8(ascii: "0")] : text[start..<position]
    }

    private static let numberBytes = Set("0123456789+-.eE".utf8)

    private func isWhitespace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func key(_ literal: ArraySlice<UInt8>) -> String {
        let isPlain = !literal.contains(UInt8(ascii: "\\"))
        let decoded = isPlain ? nil : try? JSONDecoder().decode(String.self, from: Data(literal))
        return decoded ?? String(decoding: literal.dropFirst().dropLast(), as: UTF8.self)
    }
}
