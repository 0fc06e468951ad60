/// Colors XML and HTML. The text stays unchanged, whether or not it is well-formed.
enum MarkupText {
    /// Returns the text with colors for tags, attributes, values, comments and references.
    ///
    /// - Parameter isHTML: Whether to copy the content of scripts and style sheets uncolored.
    static func colored(_ text: String, isHTML: Bool = false, _ style: Style) -> String {
        guard style.isColored else { return text }
        var painter = MarkupPainter(text: Array(text.utf8), isHTML: isHTML, style: style)
        return painter.paint()
    }
}

/// Divides markup into tokens and paints them in a single pass that never goes back.
private struct MarkupPainter {
    let text: [UInt8]
    let isHTML: Bool
    let style: Style
    private var position = 0
    private var output: [UInt8] = []

    init(text: [UInt8], isHTML: Bool, style: Style) {
        (self.text, self.isHTML, self.style) = (text, isHTML, style)
        output.reserveCapacity(text.count * 2)
    }

    mutating func paint() -> String {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "<"): markup()
            case UInt8(ascii: "&"): reference()
            default: copy(to: end { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") })
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func markup() {
        if starts(with: "<!--") {
            copy(through: "-->", after: 4, .dim)
        } else if starts(with: "<![CDATA[") {
            copy(to: position + 9, .magenta)
            copy(to: endOfSection("]]>"))
            if position < text.count { copy(to: position + 3, .magenta) }
        } else if starts(with: "<?") {
            copy(through: "?>", after: 2, .magenta)
        } else if starts(with: "<!") {
            copy(through: ">", after: 2, .magenta)
        } else {
            tag()
        }
    }

    /// Paints a tag. A `<` that isn't in an attribute value ends the tag.
    private mutating func tag() {
        let isClosing = starts(with: "</")
        let nameStart = position + (isClosing ? 2 : 1)
        guard nameStart < text.count, Self.isNameStart(text[nameStart]) else { return copy(to: nameStart) }
        let nameEnd = end(from: nameStart) { Self.endsName($0) }
        let name = String(decoding: text[nameStart..<min(nameEnd, nameStart + 16)], as: UTF8.self).lowercased()
        copy(to: nameEnd, .cyan)
        while position < text.count, text[position] != UInt8(ascii: "<") {
            switch text[position] {
            case UInt8(ascii: ">"):
                let isEmpty = text[position - 1] == UInt8(ascii: "/")
                copy(to: position + 1, .cyan)
                if isHTML, !isClosing, !isEmpty, ["script", "style"].contains(name) { rawText(endingWith: name) }
                return
            case UInt8(ascii: "/"): copy(to: position + 1, .cyan)
            case UInt8(ascii: "="):
                copy(to: end(from: position + 1) { !Self.isSpace($0) })
                value()
            case let byte where Self.isSpace(byte): copy(to: end { !Self.isSpace($0) })
            default: copy(to: max(position + 1, end { Self.endsName($0) }), .yellow)
            }
        }
    }

    private mutating func value() {
        guard position < text.count else { return }
        let quote = text[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return copy(to: end { Self.isSpace($0) || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }, .green)
        }
        copy(to: min(text.count, end(from: position + 1) { $0 == quote } + 1), .green)
    }

    /// Copies the content of a script or style sheet, up to its end tag.
    private mutating func rawText(endingWith name: String) {
        let tag = Array("</\(name)".utf8)
        let start = text.indices[position...].first { start in
            text[start] == tag[0] && text.count - start >= tag.count
                && zip(text[start...], tag).allSatisfy { Self.lowercased($0) == $1 }
        }
        copy(to: start ?? text.count)
    }

    /// Paints a character reference, such as `&amp;`.
    private mutating func reference() {
        let limit = min(text.count, position + 32)
        let end = text[(position + 1)..<limit].firstIndex {
            !Self.isNameStart($0) && !(0x30...0x39).contains($0) && $0 != 0x23
        }
        guard let end, end > position + 1, text[end] == UInt8(ascii: ";") else { return copy(to: position + 1) }
        copy(to: end + 1, .magenta)
    }

    // MARK: Copying

    /// Copies the text up to an index. Each line is painted separately, because pagers color line by line.
    private mutating func copy(to end: Int, _ paint: Style.Paint? = nil) {
        let part = text[position..<end]
        position = end
        guard let paint else {
            output += part
            return
        }
        let lines = part.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if index > 0 { output.append(UInt8(ascii: "\n")) }
            guard !line.isEmpty else { continue }
            output += "\u{1B}[\(paint.rawValue)m".utf8
            output += line
            output += "\u{1B}[0m".utf8
        }
    }

    /// Copies the text through a terminator, or to the end of the text.
    private mutating func copy(through terminator: String, after offset: Int, _ paint: Style.Paint) {
        let end = endOfSection(terminator, from: position + offset)
        copy(to: min(text.count, end + terminator.utf8.count), paint)
    }

    /// Returns the index of a terminator, or the end of the text.
    private func endOfSection(_ terminator: String, from start: Int? = nil) -> Int {
        let terminator = Array(terminator.utf8)
        var index = start ?? position
        while index <= text.count - terminator.count {
            if text[index] == terminator[0], text[index...].starts(with: terminator) { return index }
            index += 1
        }
        return text.count
    }

    private func end(from start: Int? = nil, where isEnd: (UInt8) -> Bool) -> Int {
        var index = start ?? position
        while index < text.count, !isEnd(text[index]) { index += 1 }
        return index
    }

    private func starts(with prefix: String) -> Bool { text[position...].starts(with: prefix.utf8) }

    // MARK: Characters

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isNameStart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(lowercased(byte)) || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    private static func endsName(_ byte: UInt8) -> Bool { isSpace(byte) || "<>/=".utf8.contains(byte) }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}
