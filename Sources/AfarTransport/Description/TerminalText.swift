import Foundation

/// Makes text from a server safe to print, so that the text can't control the terminal or hide anything from the reader.
public enum TerminalText {
    /// Returns the text with control characters and invisible characters made visible. Line breaks and tabs stay.
    public static func safe(_ text: String) -> String {
        guard !isSafe(text) else { return text }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            // Drop the CR of a CRLF.
            if previous == "\r", scalar != "\n" { result.append(contentsOf: visible("\r")) }
            if scalar != "\r" {
                if isShown(scalar) { result.append(scalar) } else { result.append(contentsOf: visible(scalar)) }
            }
            previous = scalar
        }
        if previous == "\r" { result.append(contentsOf: visible("\r")) }
        return String(result)
    }

    /// Joins the lines of the text into one line, and makes it safe.
    public static func line(_ text: String) -> String {
        guard text.utf8.contains(where: { !(0x20...0x7E).contains($0) }) else { return text }
        let lines = text.unicodeScalars.split(whereSeparator: breaksLine)
        return safe(lines.map { String($0) }.joined(separator: " "))
    }

    /// Whether the text can be printed safely without changes.
    package static func isSafe(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x09 }
            || text.unicodeScalars.allSatisfy(isShown)
    }

    /// Whether the text looks like binary data.
    package static func isBinary(_ text: String) -> Bool {
        text.unicodeScalars.prefix(4096).contains { $0.value < 9 || (14..<27).contains($0.value) || $0 == "\u{FFFD}" }
    }

    /// Whether a character can be printed unchanged.
    ///
    /// Returns true for tab and line feed. Returns false for all other C0 and C1 controls, other line breaks, characters that change the
    /// writing direction, and invisible characters. Soft hyphens, joiners and variation selectors are invisible but can be printed, because
    /// words and emoji contain them.
    package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: true
        case 0...0x1F, 0x7F...0x9F: false
        case 0xA0...0x033F: true
        // The combining grapheme joiner, the Arabic letter mark, and letters without a shape.
        case 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180E, 0x3164, 0xFFA0: false
        // Zero-width spaces, direction marks, separators, embeddings and overrides.
        case 0x200B, 0x200E...0x200F, 0x2028...0x202E: false
        // The word joiner, invisible operators, isolates, and deprecated controls.
        case 0x2060...0x206F: false
        // The byte order mark, and annotation anchors.
        case 0xFEFF, 0xFFF0...0xFFFB: false
        // Format controls of shorthand and music. Tags and supplementary variation selectors, because they can encode arbitrary bytes.
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

/// Formats numbers with units, independent of the locale.
package enum Quantity {
    /// Formats a number of bytes in powers of 1000: "812 bytes", "3.4 MB".
    package static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return count == 1 ? "1 byte" : "\(count) bytes" }
        var (value, unit) = (Double(count) / 1000, 0)
        // Not 1000, because 999,950 would then be formatted as 1000.0 kB.
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return String(format: value < 99.95 ? "%.1f" : "%.0f", value) + " " + units[unit]
    }

    private static let units = ["kB", "MB", "GB", "TB", "PB", "EB"]

    /// Formats a transfer rate: "3.4 MB/s". Returns nil if no time has passed.
    package static func rate(_ count: Int64, in seconds: Double) -> String? {
        guard seconds > 0, Double(count) / seconds < 1e18 else { return nil }
        return bytes(Int64(Double(count) / seconds)) + "/s"
    }

    /// Formats a count with its noun: "1 retry", "2 redirects". Pass `plural` if the plural isn't formed by adding an s.
    package static func count(_ count: Int, of name: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? name : plural ?? name + "s")"
    }

    /// Formats a time given in seconds: "12.3 ms".
    package static func milliseconds(_ seconds: Double) -> String {
        String(format: "%.1f ms", seconds * 1000)
    }
}
