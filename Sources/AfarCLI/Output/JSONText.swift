import Foundation

/// JSON (RFC 8259) as text: checked, quoted, and indented without touching order, numbers or escapes.
enum JSONText {
    /// Deeper than this is not read: indenting it would help nobody.
    static let depthLimit = 200

    static func isValid(_ text: String) -> Bool { indented(text, style: .plain) != nil }

    /// The text indented by two spaces a level, and coloured; nil when it is not JSON.
    static func indented(_ text: String, style: Style) -> String? {
        var reader = JSONReader(text: Array(text.utf8), style: style)
        return try? reader.read()
    }

    /// A text in quotes, escaped.
    static func string(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0"..<" ": quoted += String(format: "\\u%04X", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
