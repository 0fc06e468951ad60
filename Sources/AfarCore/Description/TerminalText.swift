/// Text from a server that must not steer the terminal it is shown on.
package enum TerminalText {
    /// The text with control characters made visible; line breaks and tabs stay.
    package static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if scalar == "\r", index + 1 < scalars.count, scalars[index + 1] == "\n" { continue }
            if isControl(scalar) {
                result.append(contentsOf: visible(scalar).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// The text in one line.
    package static func line(_ text: String) -> String {
        safe(text.split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// Whether bytes look like something that no person can read.
    package static func isBinary(_ text: String) -> Bool {
        text.unicodeScalars.prefix(4096).contains { $0.value < 9 || (14..<27).contains($0.value) || $0 == "\u{FFFD}" }
    }

    /// C0 and C1 but for tab and line feed, and what turns the direction of writing around.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
