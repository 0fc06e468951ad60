import CLibxml2
import Foundation

/// A part of the document from which a value is decoded.
struct NodePart {
    /// An element, an attribute, or the first node of a run of text. libxml2's structure for attributes has the same
    /// layout as its structure for nodes, up to the namespace.
    let node: xmlNodePtr
    let role: Role

    init(_ node: xmlNodePtr, _ role: Role) {
        self.node = node
        self.role = role
    }

    /// The part of the node that the value occupies.
    enum Role {
        /// The node. For a list, the node and its siblings with the same name.
        case value
        /// The node. For a list, its children.
        case item
        /// The content of an enum's case. Like `item`, but the key `_0` refers to the whole content.
        case content
        /// The text of the element, without the text of nested elements.
        case ownText
        /// The run of text that begins with this text node and ends before the next element. Comments in the run are
        /// skipped.
        case run
        /// A word of the node's text.
        case word(UnsafeBufferPointer<UInt8>)
        /// The node as a case of an enum: a container with a single key, the name of the node.
        case choice
        /// The children that are cases of an enum, as the elements of a list.
        case choices(any Decodable.Type)
        /// Nothing. The element doesn't contain the value.
        case absent
    }
}

// MARK: Names

extension NodePart {
    var isElement: Bool { node.pointee.type == XML_ELEMENT_NODE }
    var isAttribute: Bool { node.pointee.type == XML_ATTRIBUTE_NODE }
    var isList: Bool { if case .choices = role { true } else { false } }
    var isAbsent: Bool { if case .absent = role { true } else { false } }

    /// The local name, or `#text` for text.
    var name: String {
        isElement || isAttribute ? node.pointee.name.map { String(cString: $0) } ?? "" : NodePart.textKey
    }

    static let textKey = "#text"

    func hasName(_ name: String) -> Bool { self.name == name }

    /// Whether the part is absent or an element with `xsi:nil` (XML Schema Part 1, section 2.6.2).
    var isNil: Bool {
        if case .absent = role { return true }
        guard isElement, var attribute = node.pointee.properties else { return false }
        while true {
            if let name = attribute.pointee.name, name[0] == UInt8(ascii: "n"), name[1] == UInt8(ascii: "i"),
                name[2] == UInt8(ascii: "l"), name[3] == 0, let namespace = attribute.pointee.ns,
                xmlStrEqual(namespace.pointee.href, XMLNamespaces.schemaInstance) != 0
            {
                let value = UnsafeMutableRawPointer(attribute).assumingMemoryBound(to: xmlNode.self)
                return NodePart(value, .value).scalar(Bool.self) ?? false
            }
            guard let next = attribute.pointee.next else { return false }
            attribute = next
        }
    }
}

extension NodePart {
    /// Whether an optional value at this part is nil. For an element's own text, the value is nil if the element contains no
    /// text.
    var isNilForOptional: Bool {
        guard case .ownText = role else { return isNil }
        var next = node.pointee.children
        while let child = next {
            if child.isText { return false }
            next = child.pointee.next
        }
        return true
    }

    var hasLaterSiblingWithSameName: Bool {
        var next = node.pointee.next
        while let sibling = next {
            if sibling.pointee.type == XML_ELEMENT_NODE, sibling.hasSameName(as: node) { return true }
            next = sibling.pointee.next
        }
        return false
    }
}

// MARK: Text

extension NodePart {
    /// The text, including white space.
    var text: String {
        if !isRunOrWord, let text = onlyText { return String(decoding: text, as: UTF8.self) }
        switch role {
        case .ownText, .run, .word:
            return withOwnText { text, _ in String(decoding: text, as: UTF8.self) }
        default:
            guard let content = xmlNodeGetContent(node) else { return "" }
            defer { afar_xml_free(content) }
            return String(cString: content)
        }
    }

    /// Returns the value of the text, or `nil` if the text doesn't have the type's format or the node contains
    /// elements.
    @inline(__always)
    func scalar<Value: XMLScalar>(_ type: Value.Type) -> Value? {
        withTrimmedText { Value(xml: $0) }
    }

    /// Returns a value of a dynamic type from the text.
    func value(_ type: any XMLScalar.Type) -> (any XMLScalar)? {
        func read<Value: XMLScalar>(_ type: Value.Type) -> (any XMLScalar)? {
            guard let value = scalar(type) else { return nil }
            return value
        }
        return read(type)
    }

    /// Calls a closure with the text without surrounding white space. Returns `nil` if the node contains elements.
    @inline(__always)
    func withTrimmedText<Result>(_ work: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        if !isRunOrWord, let text = onlyText { return work(text.trimmed) }
        return withOwnText { text, isAlone in isAlone ? work(text.trimmed) : nil }
    }

    /// Calls a closure with the text that is directly inside the node. The closure's second argument is true if the node
    /// contains no elements, or if the role doesn't include them.
    func withOwnText<Result>(_ work: (UnsafeBufferPointer<UInt8>, _ isAlone: Bool) -> Result) -> Result {
        if case .word(let word) = role { return work(word, true) }
        var joined: [UInt8] = []
        var isAlone = true
        let isRun = if case .run = role { true } else { false }
        var next = isRun ? node : node.pointee.children
        while let part = next {
            switch part.pointee.type {
            case XML_TEXT_NODE, XML_CDATA_SECTION_NODE:
                joined.append(contentsOf: UnsafeBufferPointer(xml: part.pointee.content))
            case XML_ELEMENT_NODE: isAlone = false
            default: break
            }
            next = isRun && !isAlone ? nil : part.pointee.next
        }
        return joined.withUnsafeBufferPointer { text in
            switch role {
            case .ownText, .run: work(text, true)
            default: work(text, isAlone)
            }
        }
    }

    /// The text, if it is the node's only content and in one piece, as in most elements and attributes.
    var onlyText: UnsafeBufferPointer<UInt8>? {
        guard let child = node.pointee.children else {
            return isElement || isAttribute ? UnsafeBufferPointer(start: nil, count: 0) : nil
        }
        guard child.pointee.next == nil,
            child.pointee.type == XML_TEXT_NODE || child.pointee.type == XML_CDATA_SECTION_NODE
        else { return nil }
        return UnsafeBufferPointer(xml: child.pointee.content)
    }

    private var isRunOrWord: Bool {
        switch role {
        case .run, .word: true
        default: false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Creates a buffer from libxml2's null-terminated text.
    init(xml text: UnsafePointer<xmlChar>?) {
        self.init(
            start: text, count: text.map { strlen(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) } ?? 0)
    }

    /// The text without surrounding white space.
    @inline(__always)
    var trimmed: UnsafeBufferPointer<UInt8> {
        var start = 0
        var end = count
        while start < end, self[start].isXMLSpace { start += 1 }
        while end > start, self[end - 1].isXMLSpace { end -= 1 }
        return UnsafeBufferPointer(rebasing: self[start..<end])
    }
}

// MARK: - Location

extension NodePart {
    /// The location for error messages: `at /feed/entry[3]/title, line 12`.
    var location: String {
        let element = isElement ? node : node.pointee.parent ?? node
        return "at \(node.path), line \(xmlGetLineNo(element))"
    }
}

// MARK: - Node names

/// Properties of nodes. They extend the pointer instead of `xmlNode`, because libxml2's structure for attributes is shorter
/// than its structure for nodes. Copying an attribute as a node would read out of bounds.
extension UnsafeMutablePointer<xmlNode> {
    var isText: Bool { pointee.type == XML_TEXT_NODE || pointee.type == XML_CDATA_SECTION_NODE }

    /// Returns whether the node has a local name.
    @inline(__always)
    func hasName(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let name = pointee.name else { return false }
        // A key that contains NUL never matches.
        for index in other.indices where name[index] != other[index] || other[index] == 0 { return false }
        return name[other.count] == 0
    }

    /// One of 64 bits, chosen by the first two characters of the name. The name's address isn't used, because equal
    /// names can have different addresses in elements of a stream.
    @inline(__always)
    var nameBit: UInt64 {
        guard let name = pointee.name, name[0] != 0 else { return 1 }
        return .bit(ofNameBeginning: name[0], name[1])
    }

    /// Returns whether the node is in a namespace. An empty string means no namespace.
    func isIn(_ namespace: String) -> Bool {
        guard let href = pointee.ns?.pointee.href else { return namespace.isEmpty }
        return namespace.isEmpty ? href.pointee == 0 : xmlStrEqual(href, namespace) != 0
    }

    /// Returns whether both nodes are in the same namespace or in none.
    @inline(__always)
    func isInNamespace(of other: xmlNodePtr) -> Bool {
        if pointee.ns == other.pointee.ns { return true }
        guard let own = pointee.ns, let theirs = other.pointee.ns else { return false }
        return xmlStrEqual(own.pointee.href, theirs.pointee.href) != 0
    }

    /// Returns whether both nodes have the same name in the same namespace.
    @inline(__always)
    func hasSameName(as other: xmlNodePtr) -> Bool {
        guard pointee.name == other.pointee.name || xmlStrEqual(pointee.name, other.pointee.name) != 0
        else { return false }
        return isInNamespace(of: other)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The `nameBit` of nodes with this name.
    @inline(__always)
    var nameBit: UInt64 { isEmpty ? 1 : .bit(ofNameBeginning: self[0], count > 1 ? self[1] : 0) }
}

extension UInt64 {
    @inline(__always)
    fileprivate static func bit(ofNameBeginning first: UInt8, _ second: UInt8) -> UInt64 {
        1 &<< UInt64((first &* 31 &+ second) & 63)
    }
}
