import Foundation

/// Redacts XML and HTML by the names of elements and attributes, and preserves everything else in the text.
///
/// The text can be malformed. Prefixes of namespaces are ignored. A name can also be a value, as in property lists
/// (`<key>password</key><string>…</string>`), XML-RPC (`<name>password</name><value>…</value>`) and parameters
/// (`<param name="password">…</param>`). Comments and CDATA sections can contain markup, too.
struct XMLRedaction {
    private typealias Bytes = ArraySlice<UInt8>

    private struct Attribute {
        var name: Bytes
        /// The value without its quotation marks.
        var value: Bytes
        /// Whether the value contains `<`, as it does if a quotation mark is missing.
        var isDoubtful: Bool { value.contains(UInt8(ascii: "<")) }
    }

    private let isSecret: (String) -> Bool
    private let isHTML: Bool
    /// Whether the text is the content of a comment or of a CDATA section.
    private let isNested: Bool
    private let text: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    /// The secret element that is open, with the number of its open tags.
    private var hidden: (name: Bytes, depth: Int)?
    /// The start of the content of an open label, which is a `key` or `name` element.
    private var labelStart: Int?
    /// Whether what follows belongs to a label with a secret's name, until the next label or the end of the parent.
    private var followsSecretLabel = false

    /// Returns the text with `***` instead of secrets: the values of secret attributes, and all text and attribute values in
    /// secret elements, at any depth.
    ///
    /// - Parameters:
    ///   - text: Text in an encoding that extends ASCII.
    ///   - isHTML: Whether some elements have no end tag, and scripts contain no markup.
    ///   - isSecret: Returns whether a name is the name of a secret.
    static func redacted(_ text: Data, isHTML: Bool = false, hiding isSecret: (String) -> Bool) -> Data {
        withoutActuallyEscaping(isSecret) { isSecret in
            var redaction = XMLRedaction(isSecret, Array(text), isHTML: isHTML)
            return redaction.run()
        }
    }

    private init(_ isSecret: @escaping (String) -> Bool, _ text: [UInt8], isHTML: Bool, isNested: Bool = false) {
        (self.isSecret, self.text, self.isHTML, self.isNested) = (isSecret, text, isHTML, isNested)
        output.reserveCapacity(text.count)
    }

    private mutating func run() -> Data {
        while position < text.count {
            content(to: text[position...].firstIndex(of: UInt8(ascii: "<")) ?? text.count)
            if position < text.count { markup() }
        }
        return Data(output)
    }

    private mutating func markup() {
        if starts(with: "<![CDATA[") {
            section(from: 9, to: end(of: "]]>", after: 9))
        } else if starts(with: "<!--") {
            section(from: 4, to: end(of: "-->", after: 4))
        } else if starts(with: "<?") {
            content(to: end(of: "?>", after: 2))
        } else if starts(with: "<!") {
            content(to: end(of: ">", after: 2))
        } else if starts(with: "</") {
            endTag()
        } else {
            startTag()
        }
    }

    private var isHidden: Bool { hidden != nil || followsSecretLabel }

    /// Copies or hides text, or another section that isn't a tag.
    private mutating func content(to end: Int) {
        let part = text[position..<end]
        position = end
        guard isHidden, part.contains(where: { !Self.isSpace($0) }) else { return output += part }
        output += Self.mask
    }

    /// Copies or hides a comment or a CDATA section, with redacted content.
    private mutating func section(from offset: Int, to end: Int) {
        let content = text[(position + offset)..<end]
        // A section that contains other sections would be read again for each of them.
        guard !isHidden, !isNested else {
            guard isHidden || content.contains(UInt8(ascii: "<")) else { return copy(to: end) }
            output += Self.mask
            return position = end
        }
        output += text[position..<(position + offset)]
        output += nested(content)
        position = end
    }

    private func nested(_ content: Bytes) -> Data {
        let first = content.first { !Self.isSpace($0) }
        guard first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else {
            return JSONRedaction.redacted(Data(content), hiding: isSecret)
        }
        var redaction = XMLRedaction(isSecret, Array(content), isHTML: isHTML, isNested: true)
        return redaction.run()
    }

    // MARK: Tags

    private mutating func endTag() {
        let name = name(at: position + 2)
        if let element = hidden {
            if element.name == name { hidden = element.depth > 1 ? (name, element.depth - 1) : nil }
        } else if let start = labelStart, Self.isLabel(name) {
            followsSecretLabel = isSecretLabel(text[start..<position])
            labelStart = nil
        } else {
            followsSecretLabel = false
        }
        copy(to: end(of: ">", after: 2))
    }

    private mutating func startTag() {
        let name = name(at: position + 1)
        guard !name.isEmpty else { return copy(to: position + 1) }
        let (attributes, end) = attributes(from: name.endIndex)
        let isLabel = Self.isLabel(name)
        if isLabel, hidden == nil { followsSecretLabel = false }
        let isElementSecret = isHidden || isSecretName(name) || attributes.contains(where: namesSecret)
        for attribute in attributes where !attribute.value.isEmpty {
            let isShown =
                namesSecret(attribute) || Self.local(attribute.name).elementsEqual("xmlns".utf8)
                || attribute.name.starts(with: "xmlns:".utf8)
            guard isElementSecret && !isShown || isSecretName(attribute.name) || attribute.isDoubtful else { continue }
            copy(to: attribute.value.startIndex)
            output += Self.mask
            position = attribute.value.endIndex
        }
        copy(to: end)
        guard text[end - 1] != UInt8(ascii: ">") || text[end - 2] != UInt8(ascii: "/") else { return }
        let lowercased = isHTML ? String(decoding: name, as: UTF8.self).lowercased() : ""
        guard !Self.voidElements.contains(lowercased) else { return }
        if let element = hidden {
            if element.name == name { hidden = (name, element.depth + 1) }
        } else if isElementSecret {
            hidden = (name, 1)
        } else if isLabel {
            labelStart = end
        }
        if lowercased == "script" || lowercased == "style" { rawText(until: "</\(lowercased)") }
    }

    /// Copies or hides the content of an HTML element without markup. A script can contain JSON.
    private mutating func rawText(until terminator: String) {
        let terminator = Array(terminator.utf8)
        let end =
            text[position...].indices.first { index in
                text[index] == terminator[0]
                    && text[index...].prefix(terminator.count).map(Self.lowercased) == terminator
            } ?? text.count
        guard !isHidden else { return content(to: end) }
        output += JSONRedaction.redacted(Data(text[position..<end]), hiding: isSecret)
        position = end
    }

    /// Returns the attributes of a start tag and the index after the tag. A `<` outside of a value ends the tag.
    private func attributes(from start: Int) -> ([Attribute], end: Int) {
        var attributes: [Attribute] = []
        var rest = text[start...]
        while let byte = rest.first, byte != UInt8(ascii: "<") {
            if byte == UInt8(ascii: ">") { return (attributes, rest.startIndex + 1) }
            if Self.isSpace(byte) || byte == UInt8(ascii: "/") {
                rest = rest.dropFirst()
                continue
            }
            let name = rest.prefix { !Self.isSpace($0) && !"=<>\"'/".utf8.contains($0) }
            let separator = text[name.endIndex...].prefix { $0 == UInt8(ascii: "=") || Self.isSpace($0) }
            rest = text[separator.endIndex...]
            if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                let value = rest.dropFirst().prefix { $0 != quote }
                attributes.append(Attribute(name: name, value: value))
                rest = text[min(value.endIndex + 1, text.count)...]
            } else if separator.contains(UInt8(ascii: "=")) {
                let value = rest.prefix { !Self.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
                // In XML, the slash of an empty element follows its attributes.
                let isEmptyElement =
                    !isHTML && value.last == UInt8(ascii: "/") && text[value.endIndex...].first == UInt8(ascii: ">")
                attributes.append(Attribute(name: name, value: isEmptyElement ? value.dropLast() : value))
                rest = text[value.endIndex...]
            }
        }
        return (attributes, rest.startIndex)
    }

    /// Whether an attribute's value is the name of a secret. The secret is in the element's content or in another attribute.
    private func namesSecret(_ attribute: Attribute) -> Bool {
        let name = Self.local(attribute.name)
        return Self.isLabel(name) && isSecretLabel(attribute.value)
    }

    private func isSecretLabel(_ label: Bytes) -> Bool {
        isSecret(Self.decoded(label).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func isSecretName(_ name: Bytes) -> Bool {
        let name = Self.local(name)
        return !Self.isLabel(name) && isSecret(String(decoding: name, as: UTF8.self))
    }

    // MARK: Text

    private static let mask = Array("***".utf8)

    /// The elements without content (HTML, section 13.1.2).
    private static let voidElements: Set = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    ]

    /// Whether a name is `key` or `name`. The value of such an attribute or element is a name, not a credential.
    private static func isLabel(_ name: Bytes) -> Bool {
        let name = local(name).map(lowercased)
        return name == Array("key".utf8) || name == Array("name".utf8)
    }

    /// Returns text with its numeric character references decoded (XML, section 4.1).
    private static func decoded(_ text: Bytes) -> String {
        let pieces = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(into: String(decoding: pieces.first ?? text, as: UTF8.self)) { result, piece in
            let reference = String(decoding: piece.prefix { $0 != UInt8(ascii: ";") }.prefix(10), as: UTF8.self)
            let isHexadecimal = reference.hasPrefix("#x") || reference.hasPrefix("#X")
            let number = UInt32(reference.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
            guard reference.hasPrefix("#"), let scalar = number.flatMap(Unicode.Scalar.init) else {
                return result += "&" + String(decoding: piece, as: UTF8.self)
            }
            result.unicodeScalars.append(scalar)
            result += String(decoding: piece.dropFirst(reference.utf8.count + 1), as: UTF8.self)
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Returns a name without its prefix.
    private static func local(_ name: Bytes) -> Bytes { name.suffix(while: { $0 != UInt8(ascii: ":") }) }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private func name(at start: Int) -> Bytes {
        text[start...].prefix { !Self.isSpace($0) && !"/<>=\"'".utf8.contains($0) }
    }

    private func starts(with prefix: String) -> Bool { text[position...].starts(with: prefix.utf8) }

    /// Returns the index after a terminator, or the end of the text.
    private func end(of terminator: String, after offset: Int) -> Int {
        let terminator = Array(terminator.utf8)
        var index = position + offset
        while index + terminator.count <= text.count {
            if text[index...].starts(with: terminator) { return index + terminator.count }
            index += 1
        }
        return text.count
    }

    private mutating func copy(to end: Int) {
        output += text[position..<end]
        position = end
    }
}

extension ArraySlice<UInt8> {
    /// Returns the longest suffix whose bytes fulfill a condition.
    fileprivate func suffix(while condition: (UInt8) -> Bool) -> Self {
        self[(lastIndex { !condition($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}
