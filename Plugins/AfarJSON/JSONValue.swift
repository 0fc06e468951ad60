import CJSONDocument
import Foundation

/// A value of a document: the index of its node, and its place in an array or object.
///
/// It contains no references, so copies cost nothing. This matters because the standard library copies containers for each member that is
/// read. A value detects that its document has been closed.
struct JSONValue {
    let document: JSONDocument
    /// The generation of the document when the value was created.
    private let generation: UInt32
    let node: UInt32
    /// The containing array or object; for the root, the root itself.
    let parent: UInt32
    /// In an array, the index of the value. In an object, the number of the value's key; for a missing member, a number that
    /// is at least ``firstAbsent``. For the root, ``noPlace``.
    let place: UInt32

    /// The place of the root.
    static let noPlace = UInt32.max
    /// The ``place`` of the first missing member that is requested. It's larger than all key numbers.
    static let firstAbsent: UInt32 = 0x8000_0000

    init(document: JSONDocument, node: UInt32, parent: UInt32, place: UInt32) {
        self.document = document
        generation = document.generation
        self.node = node
        self.parent = parent
        self.place = place
    }

    /// Whether the document is still open. Users can keep a decoder after decoding has ended.
    var isOpen: Bool { document.generation == generation }

    /// The value itself.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the document is closed.
    var whileOpen: JSONValue {
        get throws {
            guard isOpen else { throw Self.closed }
            return self
        }
    }

    // MARK: Kind

    /// The first byte, which determines the kind of value.
    var first: UInt8 { document.first(node) }
    var isNull: Bool { document.isNull(node) }
    var isObject: Bool { first == UInt8(ascii: "{") }
    var isArray: Bool { document.isArray(node) }
    var isString: Bool { first == UInt8(ascii: "\"") }

    var isNumber: Bool {
        let first = first
        return first.isASCIIDigit || first == UInt8(ascii: "-")
    }

    /// The number of elements or members in an array or object.
    var count: Int { document.count(of: node) }

    /// The node after the last node of an array or object.
    var end: UInt32 { document.nodes[Int(node)].extent }
}

// MARK: - Members

extension JSONValue {
    /// The nodes of an object's keys.
    var keys: some Sequence<UInt32> {
        let end = end
        return sequence(state: node + 3) { [document] key -> UInt32? in
            guard key < end else { return nil }
            defer { key = document.end(of: key + 1) }
            return key
        }
    }

    /// Returns the value after a key's node.
    func member(_ key: UInt32) -> JSONValue {
        JSONValue(document: document, node: key + 1, parent: node, place: document.keyNumber(key))
    }

    /// The number of members up to which the search is linear. Larger objects have an index.
    private static let manyMembers = 64

    /// Whether the object can have duplicate names.
    private var isAmbiguous: Bool { document.namesAreAmbiguous || document.hasDuplicates(node) }

    /// Returns the node of the key with the given name, or nil if no key matches. Compares the names as converted by the
    /// decoder's `keyDecodingStrategy`.
    func key(named name: String) -> UInt32? {
        document.namesDependOnPath ? namedIndex[name] : key(numbered: document.number(named: name))
    }

    /// The unique converted names.
    var allNames: [String] {
        let names = document.details.names
        if document.namesDependOnPath { return namedIndex.sorted { $0.value < $1.value }.map(\.key) }
        let keys = isAmbiguous ? Array(index.values.sorted()) : Array(keys)
        return keys.map { names.name(document.keyNumber($0), at: []) }
    }

    // MARK: By numbers

    /// Returns the node of the key that has the given number, or nil if the object has no such key. Each distinct name in the document has
    /// a number.
    ///
    /// Types usually decode members in the order of the document, so the search begins at the last match.
    func key(numbered number: UInt32) -> UInt32? {
        guard number != afar_json_no_key else { return nil }
        guard !isAmbiguous else { return ambiguousKey(numbered: number) }
        let container = document.container(node)
        let (first, end) = (node + 3, end)
        var key = max(container.pointee.mark, first)
        for _ in 0..<min(count, Self.manyMembers) {
            if key == end { key = first }
            if document.keyNumber(key) == number {
                container.pointee.mark = key
                return key
            }
            key = document.end(of: key + 1)
        }
        return count <= Self.manyMembers ? nil : index[number]
    }

    private func ambiguousKey(numbered number: UInt32) -> UInt32? {
        guard count <= Self.manyMembers else { return index[number] }
        let details = document.details
        var found: UInt32?
        for key in keys where details.names.canonical(document.keyNumber(key)) == number {
            found = key
            if details.options.duplicateKeyStrategy == .useFirst { break }
        }
        return found
    }

    /// The nodes of the keys by number. Cached.
    private var index: [UInt32: UInt32] {
        let details = document.details
        if let index = details.indexes[node] { return index }
        let index = index { details.names.canonical(document.keyNumber($0)) }
        details.indexes[node] = index
        return index
    }

    // MARK: By names

    /// The nodes of the keys by converted name. Cached.
    private var namedIndex: [String: UInt32] {
        let details = document.details
        if let index = details.namedIndexes[node] { return index }
        let path = count == 0 ? [] : path
        let index = index { details.names.name(document.keyNumber($0), at: path) }
        details.namedIndexes[node] = index
        return index
    }

    /// The nodes of the keys by written name.
    var writtenIndex: [String: UInt32] {
        let names = document.details.names
        return index { names.written(document.keyNumber($0)) }
    }

    // MARK: Duplicate names

    /// Returns a dictionary of the keys' nodes. A closure returns the name under which each node is stored. The strategy for duplicate keys
    /// selects one of several keys with the same name.
    private func index<Name: Hashable>(by name: (UInt32) -> Name) -> [Name: UInt32] {
        let isFirst = document.options.duplicateKeyStrategy != .useLast
        return Dictionary(keys.map { (name($0), $0) }) { first, last in isFirst ? first : last }
    }

    /// Rejects an object with duplicate names, if the strategy requires it.
    ///
    /// - Parameter name: A closure that returns the name to compare.
    /// - Throws: `DecodingError.dataCorrupted`.
    func checkNames<Name: Hashable>(_ name: (UInt32) -> Name) throws {
        guard document.options.duplicateKeyStrategy == .reject else { return }
        var names: Set<Name> = []
        for key in keys where !names.insert(name(key)).inserted { throw duplicate(key) }
    }

    /// Rejects an object with duplicate converted names, if the strategy requires it.
    ///
    /// - Throws: `DecodingError.dataCorrupted`.
    func checkNames() throws {
        guard document.namesDependOnPath || isAmbiguous else { return }
        let names = document.details.names
        guard document.namesDependOnPath else {
            return try checkNames { names.canonical(document.keyNumber($0)) }
        }
        // The index contains each name once.
        if document.options.duplicateKeyStrategy == .reject, namedIndex.count < count {
            let path = path
            try checkNames { names.name(document.keyNumber($0), at: path) }
        }
    }
}

// MARK: - Characters

extension UInt8 {
    var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
