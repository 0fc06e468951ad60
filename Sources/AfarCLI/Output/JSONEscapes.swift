import AfarTransport

/// The escapes in JSON strings (RFC 8259, section 7).
enum JSONEscapes {
    /// Returns a valid JSON string in which printable characters aren't escaped, and all others are.
    static func readable(_ string: String) -> String {
        guard !isReadable(string) else { return string }
        var scalars = string.unicodeScalars[...]
        var result = String.UnicodeScalarView()
        while let scalar = scalars.popFirst() {
            guard scalar == "\\" else {
                if TerminalText.isShown(scalar) { result.append(scalar) } else { result += escaped(scalar) }
                continue
            }
            guard scalars.first == "u", let (decoded, length) = decoded(scalars) else {
                result.append(scalar)
                // The second character of an escape never begins another one.
                if let next = scalars.popFirst() { result.append(next) }
                continue
            }
            if isPrintable(decoded) {
                result.append(decoded)
            } else {
                result.append(scalar)
                result += scalars.prefix(length)
            }
            scalars.removeFirst(length)
        }
        return String(result)
    }

    private static func isReadable(_ string: String) -> Bool {
        string.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
    }

    /// Decodes an escape, given the text that begins after its backslash. A character outside the basic plane consists of two
    /// escapes. Returns nil for half of a surrogate pair.
    private static func decoded(_ text: Substring.UnicodeScalarView) -> (Unicode.Scalar, length: Int)? {
        guard let unit = unit(text) else { return nil }
        if let scalar = Unicode.Scalar(unit) { return (scalar, 5) }
        let rest = text.dropFirst(5)
        guard (0xD800...0xDBFF).contains(unit), rest.first == "\\", let low = self.unit(rest.dropFirst()),
            (0xDC00...0xDFFF).contains(low)
        else { return nil }
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)).map { ($0, 11) }
    }

    /// Returns the value of "u" and four hexadecimal digits.
    private static func unit(_ text: Substring.UnicodeScalarView) -> UInt32? {
        let digits = text.dropFirst().prefix(4)
        guard text.first == "u", digits.count == 4 else { return nil }
        return UInt32(String(digits), radix: 16)
    }

    /// Whether a character can replace its escape. Quotation marks and backslashes stay escaped, because they end a string or begin an
    /// escape.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar != "\"", scalar != "\\", TerminalText.isShown(scalar) else { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
        case .spaceSeparator: return scalar == " "
        default: return !scalar.properties.isVariationSelector
        }
    }

    /// Returns a character as one escape, or as two for a character outside the basic plane.
    static func escaped(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16, uppercase: true)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        .joined().unicodeScalars
    }
}
