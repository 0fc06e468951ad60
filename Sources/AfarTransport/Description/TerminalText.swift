/// Text from a server that must not steer the terminal it is shown on, nor hide anything from who reads it.
package enum TerminalText {
    /// The text with control characters and invisible ones made visible; line breaks and tabs stay.
    package static func safe(_ text: String) -> String {
        guard !isSafe(text) else { return text }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            // The return of a CR LF is left out.
            if previous == "\r", scalar != "\n" { result.append(contentsOf: visible("\r")) }
            if scalar != "\r" {
                if isShown(scalar) { result.append(scalar) } else { result.append(contentsOf: visible(scalar)) }
            }
            previous = scalar
        }
        if previous == "\r" { result.append(contentsOf: visible("\r")) }
        return String(result)
    }

    /// The text in one line.
    package static func line(_ text: String) -> String {
        guard text.utf8.contains(where: { !(0x20...0x7E).contains($0) }) else { return text }
        let lines = text.unicodeScalars.split(whereSeparator: breaksLine)
        return safe(lines.map { String($0) }.joined(separator: " "))
    }

    /// Whether nothing in the text has to be made visible.
    package static func isSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x09 }
            || text.unicodeScalars.allSatisfy(isShown)
    }

    /// Whether bytes look like something that no person can read.
    package static func isBinary(_ text: String) -> Bool {
        text.unicodeScalars.prefix(4096).contains { $0.value < 9 || (14..<27).contains($0.value) || $0 == "\u{FFFD}" }
    }

    /// Not so C0 and C1 but for tab and line feed, other line breaks, what turns the direction of writing around, and what
    /// is invisible. Some of that must stay, as words and emoji are written with it: soft hyphens, joiners and variation
    /// selectors.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: true
        case 0...0x1F, 0x7F...0x9F: false
        case 0xA0...0x033F: true
        // A joiner that joins nothing, an Arabic mark, and letters without a shape.
        case 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180E, 0x3164, 0xFFA0: false
        // Spaces without width, marks of direction, line and paragraph separators, embeddings and overrides.
        case 0x200B, 0x200E...0x200F, 0x2028...0x202E: false
        // A word joiner, invisible operators, isolates, and what was meant to shape digits.
        case 0x2060...0x206F: false
        // The byte order mark, and anchors of annotations.
        case 0xFEFF, 0xFFF0...0xFFFB: false
        // Beams and slurs that are no signs; tags, and selectors that can stand for any byte.
        case 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE0FFF: false
        default: true
        }
    }

    private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let (mark, width) = scalar.value > 0xFFFF ? ("\\U", 8) : ("\\u", 4)
        return (mark + String(repeating: "0", count: width - digits.count) + digits).unicodeScalars
    }
}
