/// Writes a tree of elements as text in UTF-8.
struct OutputWriter {
    private(set) var bytes: [UInt8] = []
    private let isPretty: Bool
    private let isSorted: Bool

    init(_ formatting: XMLEncoder.OutputFormatting) {
        isPretty = formatting.contains(.prettyPrinted)
        isSorted = formatting.contains(.sortedKeys)
        if !formatting.contains(.withoutDeclaration) {
            append(#"<?xml version="1.0" encoding="UTF-8"?>"#)
            append("\n")
        }
    }

    mutating func write(_ root: OutputElement, declaring declarations: [(name: String, value: OutputElement.Value)]) {
        write(root, declarations, isIndented: isPretty, level: 0)
        if isPretty { append("\n") }
    }

    private mutating func write(
        _ element: OutputElement, _ declarations: [(name: String, value: OutputElement.Value)] = [], isIndented: Bool,
        level: Int
    ) {
        append("<")
        append(element.name)
        let attributes =
            isSorted ? element.attributes.sorted { $0.name < $1.name } : element.attributes
        for (name, value) in declarations + attributes where !value.isEmptyList {
            append(" ")
            append(name)
            append("=\"")
            escape(value.text, isAttribute: true)
            append("\"")
        }
        guard !element.content.isEmpty else { return append("/>") }
        append(">")
        let isMixed = element.hasText
        let content = isSorted && !isMixed ? element.content.sortedByName : element.content
        for part in content {
            switch part {
            case .text(let text): escape(text, isAttribute: false)
            case .words(let list): escape(list.text, isAttribute: false)
            case .element(let child):
                if isIndented, !isMixed { startLine(level + 1) }
                write(child, isIndented: isIndented && !isMixed, level: level + 1)
            }
        }
        if isIndented, !isMixed { startLine(level) }
        append("</")
        append(element.name)
        append(">")
    }

    private mutating func startLine(_ level: Int) {
        append("\n")
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// A parser makes spaces of an attribute's line ends and tabs (XML 1.0, section 3.3.3), and line feeds of all line ends
    /// (section 2.11), unless they are references. `>` is escaped because of `]]>`.
    private mutating func escape(_ text: String, isAttribute: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            case UInt8(ascii: "&"): append("&amp;")
            case UInt8(ascii: "\""): append(isAttribute ? "&quot;" : "\"")
            case UInt8(ascii: "\r"): append("&#13;")
            case UInt8(ascii: "\n"): append(isAttribute ? "&#10;" : "\n")
            case UInt8(ascii: "\t"): append(isAttribute ? "&#9;" : "\t")
            default: bytes.append(byte)
            }
        }
    }
}

extension OutputElement.Value {
    fileprivate var text: String {
        switch self {
        case .text(let text): text
        case .words(let list): list.text
        }
    }

    fileprivate var isEmptyList: Bool {
        if case .words(let list) = self { list.count == 0 } else { false }
    }
}

extension [OutputElement.Content] {
    /// The elements by their names; those of one name in the order that they have.
    fileprivate var sortedByName: Self {
        enumerated().sorted { one, other in
            guard case .element(let first) = one.element, case .element(let second) = other.element else {
                return false
            }
            return (first.name, one.offset) < (second.name, other.offset)
        }
        .map(\.element)
    }
}
