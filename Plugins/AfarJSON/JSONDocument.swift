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

// MARK: - Contents

/// What a document consists of. It stands at an address that stays good after the document was closed, and is then used for
/// another one; the generation tells them apart.
struct JSONDocumentContents {
    /// Another number for each document, and for none.
    private(set) var generation: UInt32
    let text: UnsafePointer<CChar>
    let nodes: UnsafeMutablePointer<afar_json_node>
    let index: afar_json_document
    var types: DecodedTypes
    /// See ``JSONNames/dependOnPath``.
    let namesDependOnPath: Bool
    /// Whether different names are one in Swift.
    let namesAreAmbiguous: Bool
    /// Where on the stack decoding began.
    let stackStart: UInt
    let details: Unmanaged<JSONDocumentDetails>

    typealias Address = UnsafeMutablePointer<JSONDocumentContents>

    private static let lock = NSLock()
    /// The addresses that no document uses: as many as documents were open at a time.
    // Safe because it is used under the lock only.
    private nonisolated(unsafe) static var free: [Address] = []

    /// Retains a document. Returns nil if the index has none.
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

/// What is needed of a document now and then.
final class JSONDocumentDetails {
    let options: FastJSONDecoder
    private(set) lazy var userInfo: [CodingUserInfoKey: Any] = options.userInfo
    let names: JSONNames
    /// Of large objects, the nodes of keys by their numbers.
    var indexes: [UInt32: [UInt32: UInt32]] = [:]
    /// Of all objects, the nodes of keys by their names in Swift, where these depend on the path.
    var namedIndexes: [UInt32: [String: UInt32]] = [:]
    /// The names of members that a decoder was asked for and that are not there.
    var absentNames: [String] = []
    var locations = JSONLocations()
    /// The path of an array or an object. The next one that is wanted is mostly that of a sibling, whose path begins alike.
    var lastPath: (node: UInt32, path: [any CodingKey]) = (0, [])
    private var stackEnd: UInt?

    init(_ options: FastJSONDecoder, _ names: JSONNames) {
        self.options = options
        self.names = names
    }

    /// Whether the stack has room for more values in each other; their own code is on it, too.
    func hasStack(at position: UInt) -> Bool {
        let end = stackEnd ?? UInt(afar_stack_end())
        stackEnd = end
        return position > end + (64 << 10)
    }
}

// MARK: - Types

/// The numbers that keys have in a document, by their bytes.
typealias KeyNumbers = UnsafeMutablePointer<UInt32>

/// What was found out about the types that are decoded. It is kept from document to document.
struct DecodedTypes {
    private struct Entry {
        let type: ObjectIdentifier
        let direct: (any DirectlyDecodable.Type)?
        /// Of a type of keys, their numbers in the document of the generation.
        var numbers: KeyNumbers?
        var generation: UInt32 = 0
    }

    /// A hash table that is half empty at least. Types beyond that are not kept.
    private let entries: UnsafeMutablePointer<Entry?>
    private var count = 0

    private static let capacity = 256

    /// The number of a key that was not looked up yet. No document has so many keys.
    static let unknown = afar_json_no_key - 1

    init() {
        entries = .allocate(capacity: Self.capacity)
        entries.initialize(repeating: nil, count: Self.capacity)
    }

    /// How values of a type are decoded, if not by the type's own way.
    mutating func direct<T>(_ type: T.Type) -> (any DirectlyDecodable.Type)? {
        guard let entry = entry(of: type) else { return type as? any DirectlyDecodable.Type }
        return entry.pointee?.direct
    }

    /// The numbers of a type's keys; nil if there may be more than 256 of them. A key of one byte has no other name than the
    /// one that this byte stands for.
    mutating func numbers<Key: CodingKey>(of type: Key.Type, _ generation: UInt32) -> KeyNumbers? {
        guard MemoryLayout<Key>.size <= 1, let entry = entry(of: type) else { return nil }
        if let numbers = entry.pointee?.numbers, entry.pointee?.generation == generation { return numbers }
        let numbers = entry.pointee?.numbers ?? .allocate(capacity: 256)
        numbers.update(repeating: Self.unknown, count: 256)
        entry.pointee?.numbers = numbers
        entry.pointee?.generation = generation
        return numbers
    }

    /// A type's entry; nil when there are too many.
    private mutating func entry<T>(of type: T.Type) -> UnsafeMutablePointer<Entry?>? {
        let identifier = ObjectIdentifier(type)
        // Metadata lies at addresses that are multiples of 8.
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
