import AfarCore
public import Foundation

/// The bytes of U+FEFF at the beginning of a text, which indicate its encoding.
struct ByteOrderMark {
    let encoding: TextEncoding
    let bytes: [UInt8]

    /// The result of looking for a byte-order mark.
    enum Finding {
        case found(ByteOrderMark)
        case none
        /// More bytes are needed.
        case undecided
    }

    /// Longer marks come first. The mark of UTF-32LE equals the mark of UTF-16LE followed by a NUL, but no text begins with
    /// NUL.
    private static let all = [
        ByteOrderMark(encoding: .utf32LittleEndian, bytes: [0xFF, 0xFE, 0x00, 0x00]),
        ByteOrderMark(encoding: .utf32BigEndian, bytes: [0x00, 0x00, 0xFE, 0xFF]),
        ByteOrderMark(encoding: .utf8, bytes: [0xEF, 0xBB, 0xBF]),
        ByteOrderMark(encoding: .utf16BigEndian, bytes: [0xFE, 0xFF]),
        ByteOrderMark(encoding: .utf16LittleEndian, bytes: [0xFF, 0xFE]),
    ]

    /// Looks for a byte-order mark.
    ///
    /// - Parameters:
    ///   - encoding: The encoding whose mark to look for, or `nil` for all encodings.
    ///   - isWhole: Whether no bytes follow.
    static func find(
        in bytes: UnsafeBufferPointer<UInt8>, of encoding: TextEncoding?, isWhole: Bool
    ) -> Finding {
        if let first = bytes.first, ![0xFF, 0x00, 0xEF, 0xFE].contains(first) { return .none }
        for mark in all where encoding == nil || mark.encoding == encoding {
            if bytes.starts(with: mark.bytes) { return .found(mark) }
            if !isWhole, mark.bytes.starts(with: bytes) { return .undecided }
        }
        return .none
    }
}

extension TextEncoding {
    /// Returns the encoding of the byte-order mark at the beginning of a text, or `nil` if the text has no mark.
    ///
    /// - Parameter bytes: The text, or at least its first four bytes.
    public static func ofByteOrderMark(in bytes: Data) -> TextEncoding? {
        let finding = bytes.prefix(4).withUnsafeBytes { start in
            ByteOrderMark.find(in: start.bindMemory(to: UInt8.self), of: nil, isWhole: true)
        }
        if case .found(let mark) = finding { return mark.encoding }
        return nil
    }
}

extension Data {
    /// The data without a UTF-8 byte-order mark at the beginning.
    var withoutByteOrderMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? Data(dropFirst(3)) : self }
}

// MARK: - XML

/// The encoding that an XML document declares (XML 1.0, sections 2.8 and 4.3.3, appendix F).
enum XMLDeclaration {
    /// Returns the label of the encoding that a text declares, or `nil` if it declares none.
    static func label(in text: some StringProtocol) -> String? {
        guard text.hasPrefix("<?xml"), let end = text.firstIndex(of: ">"),
            let match = String(text[..<end]).firstMatch(of: /\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')/)
        else { return nil }
        return String(match.1 ?? match.2 ?? "")
    }

    /// Returns the label of the encoding, or `nil` if the document declares no encoding and is therefore UTF-8.
    static func label(in bytes: Data) -> String? {
        let start = [UInt8](bytes.prefix(1024))
        // The first character is `<`, so adjacent NULs reveal the size of code units.
        for (beginning, label) in wideBeginnings where start.starts(with: beginning) { return label }
        guard let label = label(in: String(decoding: start, as: UTF8.self)) else { return nil }
        // The label was read byte by byte, so the encoding can't have wide code units.
        return TextEncoding(label: label)?.hasWideCodeUnits == true ? "utf-8" : label
    }

    private static let wideBeginnings: [([UInt8], label: String)] = [
        ([0x00, 0x00, 0x00, 0x3C], "utf-32be"), ([0x3C, 0x00, 0x00, 0x00], "utf-32le"),
        ([0x00, 0x3C], "utf-16be"), ([0x3C, 0x00], "utf-16le"),
    ]
}

// MARK: - HTML

/// Finds the encoding that the `meta` elements in the first 1,024 bytes of an HTML page declare (HTML, section
/// 13.2.3.2, "prescan a byte stream to determine its encoding").
struct HTMLPrescan {
    private var rest: ArraySlice<UInt8>
    /// Whether the last byte read was the `>` of a tag.
    private var isAtTagEnd = false

    /// Returns the label of the encoding, or `nil` if the page declares no known encoding.
    static func label(in bytes: Data) -> String? {
        if let label = XMLDeclaration.label(in: bytes), TextEncoding(label: label) != nil { return label }
        var scan = HTMLPrescan(rest: [UInt8](bytes.prefix(1024))[...])
        return scan.run()
    }

    private mutating func run() -> String? {
        while !rest.isEmpty {
            if begins(with: "<!--") {
                // The dashes that end a comment can overlap the dashes that begin the comment.
                rest = rest.dropFirst(2)
                skip(past: "-->")
            } else if begins(with: "<meta"), rest.dropFirst(5).first.map({ Self.isSpace($0) || $0 == 0x2F }) == true {
                rest = rest.dropFirst(5)
                if let label = readMeta() { return label }
            } else if begins(with: "<"), isTag {
                rest = rest.drop { !Self.isSpace($0) && $0 != 0x3E }
                while readAttribute() != nil {}
            } else if begins(with: "<!") || begins(with: "</") || begins(with: "<?") {
                skip(past: ">")
            } else {
                rest = rest.dropFirst()
            }
        }
        return nil
    }

    private mutating func readMeta() -> String? {
        var names: Set<String> = []
        var isContentType = false
        var needsContentType: Bool?
        var label: String?
        while let (name, value) = readAttribute() {
            guard names.insert(name).inserted else { continue }
            switch name {
            case "http-equiv":
                isContentType = value == "content-type"
            case "content" where label == nil:
                guard let charset = Self.charset(in: value) else { continue }
                label = charset
                needsContentType = true
            case "charset":
                label = value
                needsContentType = false
            default: continue
            }
        }
        // A truncated label could be the beginning of another label.
        guard isAtTagEnd, let label, let needsContentType, isContentType || !needsContentType,
            let encoding = TextEncoding(label: label)
        else { return nil }
        // The label was read byte by byte, so the encoding can't have wide code units.
        if encoding.hasWideCodeUnits { return "utf-8" }
        return encoding.kind == .xUserDefined ? "windows-1252" : label
    }

    /// Returns the next attribute with its name and value in lowercase, or `nil` at the end of the tag.
    private mutating func readAttribute() -> (name: String, value: String)? {
        rest = rest.drop { Self.isSpace($0) || $0 == 0x2F }
        isAtTagEnd = rest.first == 0x3E
        guard !rest.isEmpty else { return nil }
        if isAtTagEnd {
            rest = rest.dropFirst()
            return nil
        }
        // An equals sign at the beginning of a name is part of the name.
        let length = rest.dropFirst().prefix { !Self.isSpace($0) && ![0x2F, 0x3E, 0x3D].contains($0) }.count + 1
        let name = Self.text(rest.prefix(length))
        rest = rest.dropFirst(length).drop(while: Self.isSpace)
        guard rest.first == 0x3D else { return (name, "") }
        rest = rest.dropFirst().drop(while: Self.isSpace)
        guard let quote = rest.first, quote == 0x22 || quote == 0x27 else {
            let value = rest.prefix { !Self.isSpace($0) && $0 != 0x3E }
            rest = rest[value.endIndex...]
            return (name, Self.text(value))
        }
        let value = rest.dropFirst().prefix { $0 != quote }
        guard value.endIndex < rest.endIndex else {
            rest = []
            return nil
        }
        rest = rest[value.endIndex...].dropFirst()
        return (name, Self.text(value))
    }

    /// Returns the charset in a `content` attribute (HTML, section 2.3.3, "extracting a character encoding from a meta
    /// element").
    private static func charset(in content: String) -> String? {
        var rest = content[...]
        while let range = rest.range(of: "charset") {
            rest = rest[range.upperBound...].drop(while: \.isWhitespace)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop(while: \.isWhitespace)
            guard let quote = rest.first, quote == "\"" || quote == "'" else {
                return String(rest.prefix { !$0.isWhitespace && $0 != ";" })
            }
            let value = rest.dropFirst().prefix { $0 != quote }
            return value.endIndex < rest.endIndex ? String(value) : nil
        }
        return nil
    }

    // MARK: Bytes

    private var isTag: Bool {
        let name = rest.dropFirst().first == 0x2F ? rest.dropFirst(2) : rest.dropFirst()
        return name.first.map { (0x41...0x5A).contains($0 & 0xDF) } == true
    }

    private func begins(with prefix: String) -> Bool {
        Self.text(rest.prefix(prefix.utf8.count)) == prefix
    }

    private mutating func skip(prefix: String) -> Bool {
        guard begins(with: prefix) else { return false }
        rest = rest.dropFirst(prefix.utf8.count)
        return true
    }

    private mutating func skip(past end: String) {
        while !rest.isEmpty, !skip(prefix: end) { rest = rest.dropFirst() }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).asciiLowercased
    }
}
