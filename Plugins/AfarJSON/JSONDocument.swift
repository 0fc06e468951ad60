import AfarSerializers
import CJSONDocument
import CStack
import Foundation

/// A parsed JSON document. It refers to its ``JSONDocumentContents``.
struct JSONDocument {
    private let contents: JSONDocumentContents.Address

    /// The maximum nesting depth of arrays and objects. Foundation's parsers have the same limit.
    private static let maximumDepth: UInt32 = 512

    // MARK: Opening and closing

    /// Parses a text. The caller must close the document.
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

    /// Frees the document's memory. Values of the document can't be used afterward.
    func close() { JSONDocumentContents.close(contents) }

    private static func fault(in text: Data, _ status: afar_json_status, at offset: Int) -> InvalidJSON {
        let problem: String
        switch status {
        case afar_json_too_large: problem = "The text has 2 GiB or more"
        case afar_json_out_of_memory: problem = "There is not enough memory for the text"
        case afar_json_lone_surrogate: problem = "A string has a lone surrogate"
        case afar_json_unsupported_processor:
            problem = "simdjson does not support this processor"
        default:
            if let fault = JSONText.fault(in: text) { return fault }
            problem = "The text is not valid JSON"
        }
        return InvalidJSON(problem: problem, location: text.withUnsafeBytes { JSONLocation(of: offset, in: $0) })
    }

    // MARK: Properties

    var generation: UInt32 { contents.pointee.generation }
    var nodes: UnsafeMutablePointer<afar_json_node> { contents.pointee.nodes }
    var text: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: contents.pointee.text, count: contents.pointee.index.length)
    }
    var details: JSONDocumentDetails { contents.pointee.details.takeUnretainedValue() }
    var options: FastJSONDecoder { details.options }
    var namesDependOnPath: Bool { contents.pointee.namesDependOnPath }
    var namesAreAmbiguous: Bool { contents.pointee.namesAreAmbiguous }

    /// Whether names that are equal as Swift strings have equal bytes.
    var namesAreEqualByBytes: Bool { contents.pointee.index.keys_are_ascii }

    /// Whether the stack has room for another level of nesting. Avoids the slow system call for the stack's end if possible.
    var hasStack: Bool {
        let position = UInt(afar_stack_position())
        return contents.pointee.stackStart &- position < 32 << 10 || details.hasStack(at: position)
    }

    var root: JSONValue { JSONValue(document: self, node: 0, parent: 0, place: JSONValue.noPlace) }

    /// Returns the value for a missing member. Its node is the `null` after the end of the text.
    func absent(_ name: String, in parent: UInt32) -> JSONValue {
        details.absentNames.append(name)
        return JSONValue(
            document: self, node: contents.pointee.index.node_count, parent: parent,
            place: JSONValue.firstAbsent + UInt32(details.absentNames.count - 1))
    }

    /// Returns the array or object at a node.
    func value(_ node: UInt32) -> JSONValue {
        guard node != 0 else { return root }
        let container = container(node).pointee
        return JSONValue(document: self, node: node, parent: container.parent, place: container.place)
    }

    // MARK: Nodes

    /// Returns the first byte of a value, which determines its kind.
    func first(_ node: UInt32) -> UInt8 { UInt8(bitPattern: contents.pointee.text[offset(node)]) }

    /// Returns the offset of a value or a key in the text.
    func offset(_ node: UInt32) -> Int { Int(nodes[Int(node)].offset & afar_json_length) }

    func isArray(_ node: UInt32) -> Bool { first(node) == UInt8(ascii: "[") }

    func isNull(_ node: UInt32) -> Bool { first(node) == UInt8(ascii: "n") }

    func container(_ node: UInt32) -> UnsafeMutablePointer<afar_json_container> {
        UnsafeMutableRawPointer(nodes + Int(node)).assumingMemoryBound(to: afar_json_container.self)
    }

    /// Returns the number of elements or members in an array or object.
    func count(of node: UInt32) -> Int { Int(container(node).pointee.count & afar_json_count) }

    func hasDuplicates(_ node: UInt32) -> Bool { container(node).pointee.count & afar_json_has_duplicates != 0 }

    /// Returns whether the object is decoded as a dictionary, whose keys are data that no strategy converts.
    func isDictionary(_ node: UInt32) -> Bool { container(node).pointee.count & afar_json_is_dictionary != 0 }

    func setDictionary(_ node: UInt32) { container(node).pointee.count |= afar_json_is_dictionary }

    /// Returns the number of a key's name. Each distinct name in the document has a number.
    func keyNumber(_ node: UInt32) -> UInt32 { nodes[Int(node)].extent }

    /// Returns the node after a value.
    func end(of node: UInt32) -> UInt32 {
        let value = nodes[Int(node)]
        return value.offset & afar_json_is_container == 0 ? node + 1 : value.extent
    }

    /// Returns the bytes of a string without its quotation marks, or of a number.
    func bytes(_ node: UInt32) -> UnsafeRawBufferPointer {
        let start = contents.pointee.text + offset(node)
        let isString = start.pointee == CChar(bitPattern: UInt8(ascii: "\""))
        return UnsafeRawBufferPointer(
            start: isString ? start + 1 : start, count: Int(nodes[Int(node)].extent & afar_json_length))
    }

    // MARK: Types

    /// Returns the type if its values are decoded directly, without its `init(from:)`. Otherwise, returns nil.
    func direct<T>(_ type: T.Type) -> (any DirectlyDecodable.Type)? { contents.pointee.types.direct(type) }

    /// Returns the cached table of this document's numbers for a type's keys. Returns nil if the type can have too many keys, or if
    /// the table of types is full.
    func numbers<Key: CodingKey>(of type: Key.Type) -> KeyNumbers? {
        contents.pointee.types.numbers(of: type, generation)
    }

    /// Returns the number of the key with a converted name, or `afar_json_no_key`.
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

// MARK: - Contents

/// The contents of a document. The address of the contents remains valid after the document is closed. Another document can reuse the
/// address, with a different generation.
struct JSONDocumentContents {
    /// A number that changes whenever a document is opened or closed at this address.
    private(set) var generation: UInt32
    let text: UnsafePointer<CChar>
    let nodes: UnsafeMutablePointer<afar_json_node>
    let index: afar_json_document
    var types: DecodedTypes
    /// See ``JSONNames/dependOnPath``.
    let namesDependOnPath: Bool
    /// Whether different names have the same converted name.
    let namesAreAmbiguous: Bool
    /// The stack position at which decoding began.
    let stackStart: UInt
    let details: Unmanaged<JSONDocumentDetails>

    typealias Address = UnsafeMutablePointer<JSONDocumentContents>

    private static let lock = NSLock()
    /// The addresses that no open document uses.
    // Safe because it's only used under the lock.
    private nonisolated(unsafe) static var free: [Address] = []

    /// Creates the contents of a document, or returns nil if the index is empty.
    static func make(_ index: afar_json_document, _ options: FastJSONDecoder) -> Address? {
        guard let text = index.text, let nodes = index.nodes else { return nil }
        let keys = UnsafeBufferPointer(start: index.keys, count: Int(index.key_count))
        let names = JSONNames(keys, areASCII: index.keys_are_ascii, options.keyDecodingStrategy)
        let details = JSONDocumentDetails(options, names)
        func contents(generation: UInt32, types: DecodedTypes) -> JSONDocumentContents {
            JSONDocumentContents(
                generation: generation, text: text, nodes: nodes, index: index, types: types,
                namesDependOnPath: names.dependOnPath, namesAreAmbiguous: names.areAmbiguous,
                stackStart: UInt(afar_stack_position()), details: .passRetained(details))
        }
        guard let address = lock.withLock({ free.popLast() }) else {
            let address = Address.allocate(capacity: 1)
            address.initialize(to: contents(generation: 1, types: DecodedTypes()))
            return address
        }
        address.pointee = contents(generation: address.pointee.generation, types: address.pointee.types)
        return address
    }

    /// Frees a document.
    static func close(_ address: Address) {
        let contents = address.pointee
        address.pointee.generation &+= 1
        lock.withLock { free.append(address) }
        contents.details.release()
        withUnsafePointer(to: contents.index) { afar_json_close($0) }
    }
}

/// The rarely used properties of a document.
final class JSONDocumentDetails {
    let options: FastJSONDecoder
    private(set) lazy var userInfo: [CodingUserInfoKey: Any] = options.userInfo
    let names: JSONNames
    /// For each large object, the nodes of its keys by number.
    var indexes: [UInt32: [UInt32: UInt32]] = [:]
    /// For each object, the nodes of its keys by converted name. Used only if names depend on the path.
    var namedIndexes: [UInt32: [String: UInt32]] = [:]
    /// The names of missing members for which a decoder was requested.
    var absentNames: [String] = []
    var locations = JSONLocations()
    /// The last computed path of an array or object. The next path is usually that of a sibling and has a common prefix.
    var lastPath: (node: UInt32, path: [any CodingKey]) = (0, [])
    private var stackEnd: UInt?

    init(_ options: FastJSONDecoder, _ names: JSONNames) {
        self.options = options
        self.names = names
    }

    /// Returns whether the stack has room for another level of nesting, including the stack frames of the decoded types' code.
    func hasStack(at position: UInt) -> Bool {
        let end = stackEnd ?? UInt(afar_stack_end())
        stackEnd = end
        return position > end + (64 << 10)
    }
}

// MARK: - Types

/// A table of the numbers that a document assigned to a type's keys. The index is the value of the byte that represents a key in
/// memory.
typealias KeyNumbers = UnsafeMutablePointer<UInt32>

/// A cache of facts about decoded types. Consecutive documents share it.
struct DecodedTypes {
    private struct Entry {
        let type: ObjectIdentifier
        let direct: (any DirectlyDecodable.Type)?
        /// The table for the type's keys, which is valid only for the document with the stored `generation`.
        var numbers: KeyNumbers?
        var generation: UInt32 = 0
    }

    /// A hash table that is at most half full. Additional types aren't cached.
    private let entries: UnsafeMutablePointer<Entry?>
    private var count = 0

    private static let capacity = 256

    /// The number of a key that hasn't been looked up yet. No document has this many keys.
    static let unknown = afar_json_no_key - 1

    init() {
        entries = .allocate(capacity: Self.capacity)
        entries.initialize(repeating: nil, count: Self.capacity)
    }

    /// Returns the type if its values are decoded directly, without its `init(from:)`. Otherwise, returns nil.
    mutating func direct<T>(_ type: T.Type) -> (any DirectlyDecodable.Type)? {
        guard let entry = entry(of: type) else { return type as? any DirectlyDecodable.Type }
        return entry.pointee?.direct
    }

    /// Returns the table for a type's keys. Returns nil if a key uses more than one byte of memory, or if the table is full. One-byte
    /// keys with the same byte have the same name, so the byte can be the index.
    mutating func numbers<Key: CodingKey>(of type: Key.Type, _ generation: UInt32) -> KeyNumbers? {
        guard MemoryLayout<Key>.size <= 1, let entry = entry(of: type) else { return nil }
        if let numbers = entry.pointee?.numbers, entry.pointee?.generation == generation { return numbers }
        let numbers = entry.pointee?.numbers ?? .allocate(capacity: 256)
        numbers.update(repeating: Self.unknown, count: 256)
        entry.pointee?.numbers = numbers
        entry.pointee?.generation = generation
        return numbers
    }

    /// Returns the entry of a type, or nil if the table is full.
    private mutating func entry<T>(of type: T.Type) -> UnsafeMutablePointer<Entry?>? {
        let identifier = ObjectIdentifier(type)
        // The addresses of metadata are multiples of 8.
        var index = Int(bitPattern: identifier) >> 3
        while let entry = entries[index & (Self.capacity - 1)] {
            if entry.type == identifier { return entries + index & (Self.capacity - 1) }
            index += 1
        }
        guard count < Self.capacity / 2 else { return nil }
        count += 1
        entries[index & (Self.capacity - 1)] = Entry(type: identifier, direct: type as? any DirectlyDecodable.Type)
        return entries + index & (Self.capacity - 1)
    }
}
