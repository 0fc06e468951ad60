import AfarCore
import Foundation

/// Checks, quotes and indents JSON text (RFC 8259). Preserves the order of members and the spelling of numbers and escapes.
enum JSONText {
    /// The maximum nesting depth. Indenting deeper text isn't useful.
    static let depthLimit = 200

    static func isValid(_ text: String) -> Bool { indented(text, style: .plain) != nil }

    /// Returns the text colored and indented by two spaces per level, or nil if it isn't JSON.
    ///
    /// In a pretty style, escapes of printable characters are replaced by the characters, and control characters and invisible
    /// characters by escapes. The result is the same JSON value.
    ///
    /// - Parameter isHidden: Returns whether to replace the value of a member with `***`. Receives the member's name.
    static func indented(
        _ text: String, style: Style, hiding isHidden: @escaping (String) -> Bool = { _ in false }
    ) -> String? {
        var reader = JSONReader(text: Array(text.utf8), style: style, isHidden: isHidden)
        return try? reader.read()
    }

    /// Returns text as a JSON string.
    static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0"..<" ", "\u{7F}"..."\u{9F}": quoted += String(format: "\\u%04X", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// Parses JSON in a single pass and formats it.
struct JSONReader {
    struct NotJSON: Error {}

    let text: [UInt8]
    let style: Style
    private let isHidden: (String) -> Bool
    private var position = 0
    private var output = ""

    init(text: [UInt8], style: Style, isHidden: @escaping (String) -> Bool) {
        self.text = text
        self.style = style
        self.isHidden = isHidden
    }

    mutating func read() throws -> String {
        try value(depth: 0)
        skipSpace()
        guard position == text.count else { throw NotJSON() }
        return output
    }

    private mutating func value(depth: Int) throws {
        guard depth < JSONText.depthLimit else { throw NotJSON() }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): try container(closing: UInt8(ascii: "}"), depth: depth, hasNames: true)
        case UInt8(ascii: "["): try container(closing: UInt8(ascii: "]"), depth: depth, hasNames: false)
        case UInt8(ascii: "\""): output += style.paint(try string(), .green)
        default: try scalar()
        }
    }

    private mutating func container(closing: UInt8, depth: Int, hasNames: Bool) throws {
        let end = String(Unicode.Scalar(closing))
        output += hasNames ? "{" : "["
        position += 1
        skipSpace()
        if skip(closing) {
            output += end
            return
        }
        repeat {
            newLine(depth + 1)
            if hasNames { try member(depth: depth + 1) } else { try value(depth: depth + 1) }
            skipSpace()
            if peek == UInt8(ascii: ",") { output += "," }
        } while skip(UInt8(ascii: ","))
        guard skip(closing) else { throw NotJSON() }
        newLine(depth)
        output += end
    }

    private mutating func member(depth: Int) throws {
        skipSpace()
        let name = try string()
        output += style.paint(name, .blue)
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw NotJSON() }
        output += ": "
        guard isHidden(String(name.dropFirst().dropLast())) else { return try value(depth: depth) }
        var shown = ""
        swap(&shown, &output)
        try value(depth: depth)
        output = shown + style.paint("\"***\"", .green)
    }

    /// Reads a string with its quotes. In a pretty style, the string becomes readable and safe for terminals.
    private mutating func string() throws -> String {
        let start = position
        guard skip(UInt8(ascii: "\"")) else { throw NotJSON() }
        while let byte = peek, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw NotJSON() }
            position += 1
            if byte == UInt8(ascii: "\\") { try escape() }
        }
        guard skip(UInt8(ascii: "\"")) else { throw NotJSON() }
        let string = String(decoding: text[start..<position], as: UTF8.self)
        return style.isPretty ? JSONEscapes.readable(string) : string
    }

    private mutating func escape() throws {
        guard let byte = peek else { throw NotJSON() }
        position += 1
        if byte == UInt8(ascii: "u") {
            for _ in 0..<4 {
                guard let digit = peek, digit.isHexDigit else { throw NotJSON() }
                position += 1
            }
        } else if !"\"\\/bfnrt".utf8.contains(byte) {
            throw NotJSON()
        }
    }

    private mutating func scalar() throws {
        for word in ["true", "false", "null"] where text[position...].starts(with: word.utf8) {
            position += word.utf8.count
            output += style.paint(word, .magenta)
            return
        }
        output += style.paint(try number(), .yellow)
    }

    /// Reads a number, unchanged (RFC 8259, section 6).
    private mutating func number() throws -> String {
        let start = position
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try digits() }
        if skip(UInt8(ascii: ".")) { try digits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try digits()
        }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws {
        let start = position
        while let byte = peek, byte.isDigit { position += 1 }
        guard position > start else { throw NotJSON() }
    }

    private var peek: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, " \t\r\n".utf8.contains(byte) { position += 1 }
    }

    private mutating func newLine(_ depth: Int) {
        output += "\n" + String(repeating: "  ", count: depth)
    }
}
