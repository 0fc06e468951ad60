/// An element to be written.
final class OutputElement {
    let name: String
    /// The nesting depth of the element. The outermost element has depth 1.
    let depth: Int
    /// Whether `xmlns=""` applies to the element.
    let isOutsideDefaultNamespace: Bool
    private(set) var attributes: [(name: String, value: Value)] = []
    private(set) var content: [Content] = []
    private var attributeNames: Set<String> = []

    /// The value of an attribute.
    enum Value {
        case text(String)
        case words(WordList)
    }

    /// The content of an element.
    enum Content {
        case element(OutputElement)
        case text(String)
        case words(WordList)
    }

    init(_ name: QualifiedName, depth: Int) {
        self.name = name.text
        self.depth = depth
        isOutsideDefaultNamespace = name.isOutsideDefaultNamespace
        if name.undeclaresDefaultNamespace { attributes.append(("xmlns", .text(""))) }
    }

    func append(_ part: Content) {
        if case .text("") = part { return }
        content.append(part)
    }

    /// Sets an attribute. Returns `false` if the attribute already exists.
    func set(_ name: String, to value: Value) -> Bool {
        guard attributeNames.insert(name).inserted else { return false }
        attributes.append((name, value))
        return true
    }

    /// The only child element, or `nil` if the content is anything else.
    var onlyElement: OutputElement? {
        guard content.count == 1, case .element(let element) = content[0] else { return nil }
        return element
    }

    var hasText: Bool {
        content.contains { if case .element = $0 { false } else { true } }
    }
}

/// A list of words in an attribute or text, separated by spaces (XML Schema Part 2, section 2.5.1.2).
final class WordList {
    private(set) var count = 0
    private(set) var text = ""

    func append(_ word: String, _ encoding: Encoding, _ codingPath: [any CodingKey]) throws {
        guard !word.isEmpty, !word.utf8.contains(where: \.isXMLSpace) else {
            throw encoding.error(word, "A word of a list can't be empty or contain white space", codingPath)
        }
        if count > 0 { text += " " }
        text += try encoding.checked(word, codingPath)
        count += 1
    }
}

/// The namespaces of a document, which are all declared on its outermost element.
struct OutputNamespaces {
    private let defaultNamespace: String?
    private var prefixes: [String: String] = [XMLNamespaces.xml: "xml"]
    private var declared: [(prefix: String, namespace: String)] = []
    private let taken: Set<String>

    /// - Throws: `EncodingError.invalidValue` if a prefix or namespace is invalid.
    init(_ namespaces: [String: String]) throws {
        defaultNamespace = namespaces[""].flatMap { $0.isEmpty ? nil : $0 }
        taken = Set(namespaces.keys)
        for (prefix, namespace) in namespaces.sorted(by: { $0.key < $1.key }) where !prefix.isEmpty && prefix != "xml" {
            guard XMLName.isValid(prefix), prefix != "xmlns" else {
                throw Self.failure(prefix, "isn't a valid namespace prefix")
            }
            guard !namespace.isEmpty, namespace != XMLNamespaces.xml, XMLCharacters.firstForbidden(in: namespace) == nil
            else {
                throw Self.failure(namespace, "isn't a valid namespace for the prefix \(prefix)")
            }
            prefixes[namespace] = prefixes[namespace] ?? prefix
            declared.append((prefix, namespace))
        }
        if let defaultNamespace {
            guard XMLCharacters.firstForbidden(in: defaultNamespace) == nil else {
                throw Self.failure(defaultNamespace, "isn't a valid namespace")
            }
            declared.insert(("", defaultNamespace), at: 0)
        }
    }

    /// The namespace declarations as attributes.
    var declarations: [(name: String, value: OutputElement.Value)] {
        declared.map { ($0.prefix.isEmpty ? "xmlns" : "xmlns:\($0.prefix)", .text($0.namespace)) }
    }

    /// Returns the name of an element in a namespace. `nil` means the default namespace, and an empty string means no
    /// namespace.
    mutating func elementName(_ name: String, _ namespace: String?, in parent: OutputElement?) -> QualifiedName {
        let isOutside = parent?.isOutsideDefaultNamespace ?? false
        switch namespace {
        case nil:
            return QualifiedName(text: name, isOutsideDefaultNamespace: isOutside)
        case "" where defaultNamespace == nil || isOutside:
            return QualifiedName(text: name, isOutsideDefaultNamespace: isOutside)
        case "":
            return QualifiedName(text: name, undeclaresDefaultNamespace: true, isOutsideDefaultNamespace: true)
        case defaultNamespace where !isOutside:
            return QualifiedName(text: name)
        case let namespace?:
            return QualifiedName(text: "\(prefix(for: namespace)):\(name)", isOutsideDefaultNamespace: isOutside)
        }
    }

    /// Returns the name of an attribute in a namespace. `nil` and an empty string mean no namespace.
    mutating func attributeName(_ name: String, _ namespace: String?) -> String {
        guard let namespace, !namespace.isEmpty else { return name }
        return "\(prefix(for: namespace)):\(name)"
    }

    private mutating func prefix(for namespace: String) -> String {
        if let prefix = prefixes[namespace] { return prefix }
        var prefix = namespace == XMLNamespaces.schemaInstance ? "xsi" : "ns1"
        var number = 1
        while taken.contains(prefix) || declared.contains(where: { $0.prefix == prefix }) {
            number += 1
            prefix = "ns\(number)"
        }
        prefixes[namespace] = prefix
        declared.append((prefix, namespace))
        return prefix
    }

    private static func failure(_ text: String, _ reason: String) -> EncodingError {
        .invalidValue(
            text, EncodingError.Context(codingPath: [], debugDescription: "\(text.debugDescription) \(reason)."))
    }
}

/// A name with its prefix.
struct QualifiedName {
    var text: String
    var undeclaresDefaultNamespace = false
    var isOutsideDefaultNamespace = false
}

/// A writer that converts a tree of elements to UTF-8.
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

    /// Escapes text. Characters that parsers would change are written as character references. In attributes, parsers
    /// convert line ends and tabs to spaces (XML 1.0, section 3.3.3). Elsewhere, they convert line ends to line feeds
    /// (section 2.11). `>` is escaped, because text can't contain `]]>`.
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
    /// The elements sorted by name. Elements with the same name keep their order.
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
