/// What text may hold in XML 1.0 (section 2.2).
enum XMLCharacters {
    /// The first character that no document can carry, not even as a reference.
    static func firstForbidden(in text: String) -> Unicode.Scalar? {
        // All of them are below a space, or begin with 0xEF in UTF-8.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0xEF }) else { return nil }
        return text.unicodeScalars.first { character in
            switch character.value {
            case 0x09, 0x0A, 0x0D: false
            case ..<0x20, 0xFFFE, 0xFFFF: true
            default: false
            }
        }
    }
}
