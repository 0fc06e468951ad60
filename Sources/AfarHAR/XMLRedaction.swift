import Foundation

/// Redacts XML by the names of elements and attributes, and preserves everything else in the text.
///
/// The text can be malformed. Prefixes of namespaces are ignored. A name can also be a value, as in property lists
/// (`<key>password</key><string>…</string>`) and parameters (`<param name="password">…</param>`).
struct XMLRedaction {
    private typealias Bytes = ArraySlice<UInt8>

    private struct Attribute {
        var name: Bytes
        /// The value without its quotation marks.
        var value: Bytes
    }

    private let isSecret: (String) -> Bool
    private let text: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    /// The secret element that is open, with the number of its open tags.
    private var hidden: (name: Bytes, depth: Int)?
    /// The start of the content of an open `key` element.
    private var keyStart: Int?
    /// Whether the next element belongs to a secret `key` element.
    private var isNextSecret = false

    /// Returns the text with `***` instead of secrets: the values of secret attributes, and all text and attribute values in
    /// secret elements, at any depth.
    static func redacted(_ text: Data, hiding isSecret: (String) -> Bool) -> Data {
        withoutActuallyEscaping(isSecret) { isSecret in
            var redaction = XMLRedaction(isSecret, Array(text))
            return redaction.run()
        }
    }

    private init(_ isSecret: @escaping (String) -> Bool, _ text: [UInt8]) {
        (self.isSecret, self.text) = (isSecret, text)
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
            content(to: end(of: "]]>", after: 9))
        } else if starts(with: "<!--") {
            content(to: end(of: "-->", after: 4))
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

    /// Copies or hides text, a comment, or another section that isn't a tag.
    private mutating func content(to end: Int) {
        let part = text[position..<end]
        position = end
        guard hidden != nil, part.contains(where: { !Self.isSpace($0) }) else { return output += part }
        output += Self.mask
    }

    private mutating func endTag() {
        let name = name(at: position + 2)
        if let element = hidden {
            if element.name == name { hidden = element.depth > 1 ? (name, element.depth - 1) : nil }
        } else if let start = keyStart, Self.isKey(name) {
            isNextSecret = isSecret(Self.trimmed(text[start..<position]))
            keyStart = nil
        }
        copy(to: end(of: ">", after: 2))
    }

    private mutating func startTag() {
        let name = name(at: position + 1)
        guard !name.isEmpty else { return copy(to: position + 1) }
        let (attributes, end) = attributes(from: name.endIndex)
        let isElementSecret =
            hidden != nil || isNextSecret || isSecretName(name) || attributes.contains(where: namesSecret)
        isNextSecret = false
        for attribute in attributes where !attribute.value.isEmpty {
            let isShown =
                namesSecret(attribute) || Self.local(attribute.name).elementsEqual("xmlns".utf8)
                || attribute.name.starts(with: "xmlns:".utf8)
            guard isElementSecret && !isShown || isSecretName(attribute.name) else { continue }
            copy(to: attribute.value.startIndex)
            output += Self.mask
            position = attribute.value.endIndex
        }
        copy(to: end)
        guard text[end - 1] != UInt8(ascii: ">") || text[end - 2] != UInt8(ascii: "/") else { return }
        if let element = hidden {
            if element.name == name { hidden = (name, element.depth + 1) }
        } else if isElementSecret {
            hidden = (name, 1)
        } else if Self.isKey(name) {
            keyStart = end
        }
    }

    /// Returns the attributes of a start tag and the index after the tag. A `<` outside of a value ends the tag.
    private func attributes(from start: Int) -> ([Attribute], end: Int) {
        var attributes: [Attribute] = []
        var index = start
        // The ends of the last name and the last value.
        var (nameEnd, last) = (start, start)
        while index < text.count, text[index] != UInt8(ascii: "<") {
            let byte = text[index]
            if byte == UInt8(ascii: ">") { return (attributes, index + 1) }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                let value = text[(index + 1)...].prefix { $0 != byte }
                let name = text[last..<nameEnd].suffix(while: { !Self.isSpace($0) && $0 != UInt8(ascii: "=") })
                attributes.append(Attribute(name: name, value: value))
                index = min(value.endIndex + 1, text.count)
                (nameEnd, last) = (index, index)
            } else {
                index += 1
                if !Self.isSpace(byte), byte != UInt8(ascii: "=") { nameEnd = index }
            }
        }
        return (attributes, index)
    }

    /// Whether an attribute's value is the name of a secret. The secret is in the element's content or in another attribute.
    private func namesSecret(_ attribute: Attribute) -> Bool {
        let name = Self.local(attribute.name)
        return (name.elementsEqual("name".utf8) || Self.isKey(name)) && isSecret(Self.trimmed(attribute.value))
    }

    private func isSecretName(_ name: Bytes) -> Bool {
        let name = Self.local(name)
        return !Self.isKey(name) && isSecret(String(decoding: name, as: UTF8.self))
    }

    // MARK: Text

    private static let mask = Array("***".utf8)

    /// Whether a name is `key`. The value of `key` is a name, not a credential.
    private static func isKey(_ name: Bytes) -> Bool { name.lazy.map { $0 | 0x20 }.elementsEqual("key".utf8) }

    /// Returns a name without its prefix.
    private static func local(_ name: Bytes) -> Bytes { name.suffix(while: { $0 != UInt8(ascii: ":") }) }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func trimmed(_ text: Bytes) -> String {
        String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

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
