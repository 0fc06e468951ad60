import AfarCore
import Foundation

/// Checks, quotes and indents JSON text (RFC 8259). Preserves the order of members and the spelling of numbers and escapes.
enum JSONText {
    /// The maximum nesting depth. Indenting deeper text isn't useful.
    static let depthLimit = 200

    static func isValid(_ text: String) -> Bool {
        var reader = JSONReader(text, handler: JSONValidator())
        return reader.read()
    }

    /// Returns the text colored and indented by two spaces per level, or nil if it isn't JSON.
    ///
    /// In a pretty style, printable characters replace their escapes, and escapes replace control characters and invisible
    /// characters. The result is the same JSON value.
    static func indented(_ text: String, style: Style) -> String? {
        var reader = JSONReader(text, handler: JSONFormatter(style: style))
        return reader.read() ? reader.handler.output : nil
    }

    /// Returns text as a JSON string. Control characters, characters that change the writing direction, and invisible characters are
    /// escaped.
    static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where TerminalText.isShown(scalar): quoted.unicodeScalars.append(scalar)
            default: quoted.unicodeScalars += JSONEscapes.escaped(scalar)
            }
        }
        return quoted + "\""
    }
}

/// Accepts JSON without using it.
private struct JSONValidator: JSONHandler {
    mutating func begin(_ container: JSONContainer) {}
    mutating func beginElement(isFirst: Bool, depth: Int) {}
    mutating func name(_ literal: ArraySlice<UInt8>) {}
    mutating func scalar(_ literal: ArraySlice<UInt8>) {}
    mutating func end(_ container: JSONContainer, isEmpty: Bool, depth: Int) {}
}

/// Formats JSON.
private struct JSONFormatter: JSONHandler {
    let style: Style
    private(set) var output = ""

    init(style: Style) { self.style = style }

    mutating func begin(_ container: JSONContainer) { output += container == .object ? "{" : "[" }

    mutating func beginElement(isFirst: Bool, depth: Int) {
        if !isFirst { output += "," }
        newLine(depth)
    }

    mutating func name(_ literal: ArraySlice<UInt8>) { output += style.paint(string(literal), .blue) + ": " }

    mutating func scalar(_ literal: ArraySlice<UInt8>) {
        switch literal.first {
        case UInt8(ascii: "\""): output += style.paint(string(literal), .green)
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            output += style.paint(String(decoding: literal, as: UTF8.self), .magenta)
        default: output += style.paint(String(decoding: literal, as: UTF8.self), .yellow)
        }
    }

    mutating func end(_ container: JSONContainer, isEmpty: Bool, depth: Int) {
        if !isEmpty { newLine(depth) }
        output += container == .object ? "}" : "]"
    }

    /// Returns a string with its quotes. In a pretty style, it's readable and safe for terminals.
    private func string(_ literal: ArraySlice<UInt8>) -> String {
        let string = String(decoding: literal, as: UTF8.self)
        return style.isPretty ? JSONEscapes.readable(string) : string
    }

    private mutating func newLine(_ depth: Int) {
        output += "\n"
        for _ in 0..<depth { output += "  " }
    }
}
