import CLibxml2
import Foundation

/// A part of the document that a value is read from.
struct Place {
    /// An element, an attribute, or the first node of a run of text. libxml2's attributes begin as its nodes do, as far as
    /// the namespace.
    let node: xmlNodePtr
    let role: Role

    init(_ node: xmlNodePtr, _ role: Role) {
        self.node = node
        self.role = role
    }

    /// What the node stands for.
    enum Role {
        /// Itself; for a list, itself and the siblings that bear the same name.
        case value
        /// Itself; for a list, its children.
        case item
        /// As `item`, and the key `_0` is itself too: the content of an enum's case.
        case content
        /// Its own text, without that of the elements in it.
        case ownText
        /// The text that begins with this text node and ends before the next that is none.
        case run
        /// A word of its text.
        case word(UnsafeBufferPointer<UInt8>)
        /// Not itself: its name is a key, the only one.
        case choice
        /// For a list: those of its children that are a case of an enum.
        case choices(any Decodable.Type)
        /// Nothing was found in this element.
        case absent
    }
}

// MARK: Names

extension Place {
    var isElement: Bool { node.pointee.type == XML_ELEMENT_NODE }
    var isAttribute: Bool { node.pointee.type == XML_ATTRIBUTE_NODE }
    var isList: Bool { if case .choices = role { true } else { false } }
    var isAbsent: Bool { if case .absent = role { true } else { false } }

    /// The local name; `#text` for text.
    var name: String {
        isElement || isAttribute ? node.pointee.name.map { String(cString: $0) } ?? "" : Place.textKey
    }

    static let textKey = "#text"

    func bears(_ name: String) -> Bool { self.name == name }

    /// Whether this is an element that says it is nil (XML Schema Part 1, section 2.6.2), or nothing at all.
    var isNil: Bool {
        if case .absent = role { return true }
        guard isElement, var attribute = node.pointee.properties else { return false }
        while true {
            if let name = attribute.pointee.name, name[0] == UInt8(ascii: "n"), name[1] == UInt8(ascii: "i"),
                name[2] == UInt8(ascii: "l"), name[3] == 0, let namespace = attribute.pointee.ns,
                xmlStrEqual(namespace.pointee.href, XMLNamespaces.schemaInstance) != 0
            {
                let value = UnsafeMutableRawPointer(attribute).assumingMemoryBound(to: xmlNode.self)
                return Place(value, .value).scalar(Bool.self) ?? false
            }
            guard let next = attribute.pointee.next else { return false }
            attribute = next
        }
    }
}

extension Place {
    /// Whether this is nil for an optional value: the text of an element without any is.
    var isNothing: Bool {
        guard case .ownText = role else { return isNil }
        var next = node.pointee.children
        while let child = next {
            if child.isText { return false }
            next = child.pointee.next
        }
        return true
    }

    /// Whether a sibling after this bears the same name.
    var hasNamesake: Bool {
        var next = node.pointee.next
        while let sibling = next {
            if sibling.pointee.type == XML_ELEMENT_NODE, sibling.isNamesake(of: node) { return true }
            next = sibling.pointee.next
        }
        return false
    }
}

// MARK: Text

extension Place {
    /// The text, as it is.
    var text: String {
        if !isPart, let text = onlyText { return String(decoding: text, as: UTF8.self) }
        switch role {
        case .ownText, .run, .word:
            return withOwnText { text, _ in String(decoding: text, as: UTF8.self) }
        default:
            guard let content = xmlNodeGetContent(node) else { return "" }
            defer { afar_xml_free(content) }
            return String(cString: content)
        }
    }

    /// A value of its text; nil where the text is not of that form, or where there are elements in it.
    @inline(__always)
    func scalar<Value: XMLScalar>(_ type: Value.Type) -> Value? {
        withTrimmedText { Value(xml: $0) }
    }

    /// A value of its text, of a type that is not known here.
    func value(_ type: any XMLScalar.Type) -> (any XMLScalar)? {
        func read<Value: XMLScalar>(_ type: Value.Type) -> (any XMLScalar)? {
            guard let value = scalar(type) else { return nil }
            return value
        }
        return read(type)
    }

    /// Works on the text without the white space around it; nil where there are elements in it.
    @inline(__always)
    func withTrimmedText<Result>(_ work: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        if !isPart, let text = onlyText { return work(text.trimmed) }
        return withOwnText { text, isAlone in isAlone ? work(text.trimmed) : nil }
    }

    /// Works on all text that is directly in here, and is told whether no element is.
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

    /// The text, where that is one piece and all that is in here, as in most elements and attributes.
    var onlyText: UnsafeBufferPointer<UInt8>? {
        guard let child = node.pointee.children else {
            return isElement || isAttribute ? UnsafeBufferPointer(start: nil, count: 0) : nil
        }
        guard child.pointee.next == nil,
            child.pointee.type == XML_TEXT_NODE || child.pointee.type == XML_CDATA_SECTION_NODE
        else { return nil }
        return UnsafeBufferPointer(xml: child.pointee.content)
    }

    private var isPart: Bool {
        switch role {
        case .run, .word: true
        default: false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// libxml2's text, which ends in NUL.
    init(xml text: UnsafePointer<xmlChar>?) {
        self.init(
            start: text, count: text.map { strlen(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) } ?? 0)
    }

    /// This without the white space around it.
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

extension Place {
    /// Where this is, for a person: `at /feed/entry[3]/title, line 12`.
    var location: String {
        let element = isElement ? node : node.pointee.parent ?? node
        return "at \(node.path), line \(xmlGetLineNo(element))"
    }
}

// MARK: - Names of nodes

/// What is asked of nodes all the time. Asked of the pointer: libxml2's attributes are shorter than its nodes, and would be
/// copied as if they were as long.
extension UnsafeMutablePointer<xmlNode> {
    var isText: Bool { pointee.type == XML_TEXT_NODE || pointee.type == XML_CDATA_SECTION_NODE }

    /// Whether this bears a local name.
    @inline(__always)
    func bears(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let name = pointee.name else { return false }
        // The name ends in NUL; a key that has one in it is no name.
        for index in other.indices where name[index] != other[index] || other[index] == 0 { return false }
        return name[other.count] == 0
    }

    /// One of 64 bits for the name, by how it begins. Not by its address: in what a stream keeps, equal names are apart.
    @inline(__always)
    var nameBit: UInt64 {
        guard let name = pointee.name, name[0] != 0 else { return 1 }
        return .bit(ofNameBeginning: name[0], name[1])
    }

    /// Whether this is of a namespace; "" is none.
    func isIn(_ namespace: String) -> Bool {
        guard let href = pointee.ns?.pointee.href else { return namespace.isEmpty }
        return namespace.isEmpty ? href.pointee == 0 : xmlStrEqual(href, namespace) != 0
    }

    /// Whether both are of the same namespace, or of none.
    @inline(__always)
    func isInNamespace(of other: xmlNodePtr) -> Bool {
        if pointee.ns == other.pointee.ns { return true }
        guard let own = pointee.ns, let theirs = other.pointee.ns else { return false }
        return xmlStrEqual(own.pointee.href, theirs.pointee.href) != 0
    }

    /// Whether both bear the same name in the same namespace.
    @inline(__always)
    func isNamesake(of other: xmlNodePtr) -> Bool {
        guard pointee.name == other.pointee.name || xmlStrEqual(pointee.name, other.pointee.name) != 0
        else { return false }
        return isInNamespace(of: other)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The bit that a node of this name has.
    @inline(__always)
    var nameBit: UInt64 { isEmpty ? 1 : .bit(ofNameBeginning: self[0], count > 1 ? self[1] : 0) }
}

extension UInt64 {
    @inline(__always)
    fileprivate static func bit(ofNameBeginning first: UInt8, _ second: UInt8) -> UInt64 {
        1 &<< UInt64((first &* 31 &+ second) & 63)
    }
}
