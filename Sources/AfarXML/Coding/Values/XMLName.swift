/// Names without a colon (Namespaces in XML 1.0, section 3; XML 1.0, fifth edition, section 2.3).
enum XMLName {
    /// Whether text is a name.
    static func isValid(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, isStart(first) else { return false }
        return text.unicodeScalars.dropFirst().allSatisfy { isStart($0) || isPart($0) }
    }

    private static func isStart(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
            0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
            0x10000...0xEFFFF:
            true
        default: false
        }
    }

    private static func isPart(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: false
        }
    }
}
