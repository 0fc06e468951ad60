import Foundation

/// What an XML document says of its own encoding (XML 1.0, sections 2.8 and 4.3.3, appendix F).
enum XMLDeclaration {
    /// The label of the encoding that a document's text declares; nil when it declares none.
    static func label(in text: some StringProtocol) -> String? {
        guard text.hasPrefix("<?xml"), let end = text.firstIndex(of: ">"),
            let match = String(text[..<end]).firstMatch(of: /\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')/)
        else { return nil }
        return String(match.1 ?? match.2 ?? "")
    }

    /// The label of the encoding; nil when the document says nothing, which means UTF-8.
    static func label(in bytes: Data) -> String? {
        let start = [UInt8](bytes.prefix(1024))
        // The first character is <, so where NULs are beside it tells the units' size.
        for (beginning, label) in wideBeginnings where start.starts(with: beginning) { return label }
        guard let label = label(in: String(decoding: start, as: UTF8.self)) else { return nil }
        // It could be read byte by byte, so it cannot be what it says.
        return TextEncoding(label: label)?.isOfWideUnits == true ? "utf-8" : label
    }

    private static let wideBeginnings: [([UInt8], label: String)] = [
        ([0x00, 0x00, 0x00, 0x3C], "utf-32be"), ([0x3C, 0x00, 0x00, 0x00], "utf-32le"),
        ([0x00, 0x3C], "utf-16be"), ([0x3C, 0x00], "utf-16le"),
    ]
}

extension TextEncoding {
    /// Whether ASCII characters take more than a byte.
    var isOfWideUnits: Bool {
        [.utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian].contains(self)
    }
}
