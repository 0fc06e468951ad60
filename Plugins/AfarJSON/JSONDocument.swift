import AfarSerializers
import CJSONDocument
import CStack
import Foundation

/// A text that is JSON, and what is to be known for decoding from it: a name for its ``JSONDocumentContents``.
struct JSONDocument {
    private let contents: JSONDocumentContents.Address

    /// How deep arrays and objects may be nested: what Foundation's parsers take.
    private static let maximumDepth: UInt32 = 512

    // MARK: Opening and closing

    /// Reads a text. The document is to be closed.
    ///
    /// - Throws: `DecodingError.dataCorrupted`.
    static func open(_ data: Data, options: FastJSONDecoder) throws -> JSONDocument {
        let utf8: Data
        do {
            utf8 = try JSONText.utf8(data)
        } catch {
            throw DecodingError.dataCorrupted(by: error)
        }
        var index = afar_json_document()
        let status = utf8.withUnsafeBytes { afar_json_open($0.baseAddress, $0.count, maximumDepth, &index) }
        guard status == afar_json_ok, let contents = JSONDocumentContents.make(index, options) else {
            throw DecodingError.dataCorrupted(by: fault(in: utf8, status, at: index.length))
        }
        return JSONDocument(contents: contents)
    }

    /// Frees what the document holds. Values that someone has kept are not open any more.
    func close() { JSONDocumentContents.close(contents) }

    private static func fault(in text: Data, _ status: afar_json_status, at offset: Int) -> InvalidJSON {
        let problem: String
        switch status {
        case afar_json_too_large: problem = "The text has 2 GiB or more"
        case afar_json_out_of_memory: problem = "There is not enough memory for the text"
        case afar_json_lone_surrogate: problem = "A string has half of a surrogate pair"
        case afar_json_unsupported_processor:
            problem = "simdjson does not support this processor, and cannot read the text"
        default:
            if let fault = JSONText.fault(in: text) { return fault }
            problem = "The text is no JSON"
        }
        return InvalidJSON(problem: problem, location: text.withUnsafeBytes { JSONLocation(of: offset, in: $0) })
    }

    // MARK: What it is

    var generation: UInt32 { contents.pointee.generation }
    var nodes: UnsafeMutablePointer<afar_json_node> { contents.pointee.nodes }
    var text: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: contents.pointee.text, count: contents.pointee.index.length)
    }
    var details: JSONDocumentDetails { contents.pointee.details.takeUnretainedValue() }
    var options: FastJSONDecoder { details.options }
    var namesDependOnPath: Bool { contents.pointee.namesDependOnPath }
    var namesAreAmbiguous: Bool { contents.pointee.namesAreAmbiguous }

    /// Whether names that are equal in Swift have equal bytes.
    var namesAreEqualByBytes: Bool { contents.pointee.index.keys_are_ascii }

    /// Whether the stack has room for more values in each other. To ask the system where it ends is dear.
    var hasStack: Bool {
        let position = UInt(afar_stack_position())
        return contents.pointee.stackStart &- position < 32 << 10 || details.hasStack(at: position)
    }

    var root: JSONValue { JSONValue(document: self, node: 0, parent: 0, place: JSONValue.noPlace) }

    /// What stands for a member that is not there: `null`, which stands behind the text.
    func absent(_ name: String, in parent: UInt32) -> JSONValue {
        details.absentNames.append(name)
        return JSONValue(
            document: self, node: contents.pointee.index.node_count, parent: parent,
            place: JSONValue.firstAbsent + UInt32(details.absentNames.count - 1))
    }

    /// The value of an array or an object that is known by its node.
    func value(_ node: UInt32) -> JSONValue {
        guard node != 0 else { return root }
        let container = container(node).pointee
        return JSONValue(document: self, node: node, parent: container.parent, place: container.place)
    }

    // MARK: Nodes

    /// A value's first byte, which tells what it is.
    func first(_ node: UInt32) -> UInt8 { UInt8(bitPattern: contents.pointee.text[offset(node)]) }

    /// Where in the text a value or a key begins.
    func offset(_ node: UInt32) -> Int { Int(nodes[Int(node)].offset & afar_json_length) }

    func isArray(_ node: UInt32) -> Bool { first(node) == UInt8(ascii: "[") }

    func isNull(_ node: UInt32) -> Bool { first(node) == UInt8(ascii: "n") }

    func container(_ node: UInt32) -> UnsafeMutablePointer<afar_json_container> {
        UnsafeMutableRawPointer(nodes + Int(node)).assumingMemoryBound(to: afar_json_container.self)
    }

    /// How many elements or members an array or an object has.
    func count(of node: UInt32) -> Int { Int(container(node).pointee.count & afar_json_count) }

    /// Whether a name stands twice in an object.
    func hasDuplicates(_ node: UInt32) -> Bool { container(node).pointee.count & afar_json_has_duplicates != 0 }

    /// Whether an object's keys are data, and not names that a strategy converts.
    func isDictionary(_ node: UInt32) -> Bool { container(node).pointee.count & afar_json_is_dictionary != 0 }

    func setDictionary(_ node: UInt32) { container(node).pointee.count |= afar_json_is_dictionary }

    /// The number of the name in a key's node.
    func keyNumber(_ node: UInt32) -> UInt32 { nodes[Int(node)].extent }

    /// The node behind a value.
    func end(of node: UInt32) -> UInt32 {
        let value = nodes[Int(node)]
        return value.offset & afar_json_is_container == 0 ? node + 1 : value.extent
    }

    /// The bytes of a string between the quotation marks, or of a number.
    func bytes(_ node: UInt32) -> UnsafeRawBufferPointer {
        let start = contents.pointee.text + offset(node)
        let isString = start.pointee == CChar(bitPattern: UInt8(ascii: "\""))
        return UnsafeRawBufferPointer(
            start: isString ? start + 1 : start, count: Int(nodes[Int(node)].extent & afar_json_length))
    }

    // MARK: Types

    /// How values of a type are decoded, if not by the type's own way.
    func direct<T>(_ type: T.Type) -> (any DirectlyDecodable.Type)? { contents.pointee.types.direct(type) }

    /// The numbers that the keys of a type have here, if they are so few that they are looked up once only.
    func numbers<Key: CodingKey>(of type: Key.Type) -> KeyNumbers? {
        contents.pointee.types.numbers(of: type, generation)
    }

    /// The number of the key with a name in Swift, or `afar_json_no_key`.
    func number(named name: String) -> UInt32 {
        if let numbers = details.names.numbers { return numbers[name] ?? afar_json_no_key }
        var name = name
        return name.withUTF8 { name in
            withUnsafePointer(to: contents.pointee.index) {
                afar_json_find_key(
                    $0, UnsafeRawPointer(name.baseAddress)?.assumingMemoryBound(to: CChar.self), name.count)
            }
        }
    }
}
