import Foundation

/// What an XML document says of its own encoding (XML 1.0, sections 2.8 and 4.3.3, appendix F).
enum XMLDeclaration {
    /// The label of the encoding; nil when the document says nothing, which means UTF-8.
    static func label(in bytes: Data) -> String? {
        let start = [UInt8](bytes.prefix(1024))
        // The first character is <, so where NULs are beside it tells the units' size.
        for (beginning, label) in wideBeginnings where start.starts(with: beginning) { return label }
        guard start.starts(with: Array("<?xml".utf8)), let end = start.firstIndex(of: UInt8(ascii: ">")) else {
            return nil
        }
        let declaration = String(decoding: start[..<end], as: UTF8.self)
        guard let match = declaration.firstMatch(of: /\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')/) else { return nil }
        let label = String(match.1 ?? match.2 ?? "")
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
