import CJSONDocument
import Foundation

/// A value of a document: its node, and which place it has in which array or object.
///
/// It holds no reference, so that containers, which the standard library copies for each member that is read, cost nothing to
/// copy. A value whose document has been closed in the meantime knows it.
struct JSONValue {
    let document: JSONDocument
    /// The document's when this was made.
    private let generation: UInt32
    let node: UInt32
    /// The array or object that this is in; of the root, the root itself.
    let parent: UInt32
    /// An index, a key's number, ``firstAbsent`` and more, or ``noPlace``.
    let place: UInt32

    /// The place of the root.
    static let noPlace = UInt32.max
    /// The place of the first member that a decoder asked for and the document does not have. No number of a key is as large.
    static let firstAbsent: UInt32 = 0x8000_0000

    init(document: JSONDocument, node: UInt32, parent: UInt32, place: UInt32) {
        self.document = document
        generation = document.generation
        self.node = node
        self.parent = parent
        self.place = place
    }

    /// Whether the document is still open: someone may keep a decoder for longer than it decodes.
    var isOpen: Bool { document.generation == generation }

    /// This, if its document is still open.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if it is not.
    var whileOpen: JSONValue {
        get throws {
            guard isOpen else { throw Self.closed }
            return self
        }
    }

    // MARK: What it is

    /// The first byte, which tells what it is.
    var first: UInt8 { document.first(node) }
    var isNull: Bool { document.isNull(node) }
    var isObject: Bool { first == UInt8(ascii: "{") }
    var isArray: Bool { document.isArray(node) }
    var isString: Bool { first == UInt8(ascii: "\"") }

    var isNumber: Bool {
        let first = first
        return first.isASCIIDigit || first == UInt8(ascii: "-")
    }

    /// How many elements or members an array or an object has.
    var count: Int { document.count(of: node) }

    /// The node behind the last one of an array or an object.
    var end: UInt32 { document.nodes[Int(node)].extent }
}

// MARK: - Members

/// How an object's members are found.
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

    /// The value behind a key's node.
    func member(_ key: UInt32) -> JSONValue {
        JSONValue(document: document, node: key + 1, parent: node, place: document.keyNumber(key))
    }

    /// Up to so many members are looked through, and more in an index.
    private static let manyMembers = 64

    /// Whether a name may stand twice in an object.
    private var isAmbiguous: Bool { document.namesAreAmbiguous || document.hasDuplicates(node) }

    /// The node of the key with a name in Swift.
    func key(named name: String) -> UInt32? {
        document.namesDependOnPath ? namedIndex[name] : key(numbered: document.number(named: name))
    }

    /// The names in Swift, each of them once.
    var allNames: [String] {
        let names = document.details.names
        if document.namesDependOnPath { return namedIndex.sorted { $0.value < $1.value }.map(\.key) }
        let keys = isAmbiguous ? Array(index.values.sorted()) : Array(keys)
        return keys.map { names.name(document.keyNumber($0), at: []) }
    }

    // MARK: By numbers

    /// The node of the key with a number.
    ///
    /// Types mostly ask for members in the order in which they stand; so the search begins at the one that was found last.
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

    /// The keys' nodes by their numbers, kept for the next search.
    private var index: [UInt32: UInt32] {
        let details = document.details
        if let index = details.indexes[node] { return index }
        let index = index { details.names.canonical(document.keyNumber($0)) }
        details.indexes[node] = index
        return index
    }

    // MARK: By names

    /// The keys' nodes by their names in Swift, kept for the next search.
    private var namedIndex: [String: UInt32] {
        let details = document.details
        if let index = details.namedIndexes[node] { return index }
        let path = count == 0 ? [] : path
        let index = index { details.names.name(document.keyNumber($0), at: path) }
        details.namedIndexes[node] = index
        return index
    }

    /// The keys' nodes by their names as they are written.
    var writtenIndex: [String: UInt32] {
        let names = document.details.names
        return index { names.written(document.keyNumber($0)) }
    }

    // MARK: Names that stand twice

    /// The keys' nodes by what a closure makes of them; where two are equal, by the rule.
    private func index<Name: Hashable>(by name: (UInt32) -> Name) -> [Name: UInt32] {
        let isFirst = document.options.duplicateKeyStrategy != .useLast
        return Dictionary(keys.map { (name($0), $0) }) { first, last in isFirst ? first : last }
    }

    /// Refuses an object in which a name stands twice, if that is the rule.
    ///
    /// - Parameter name: What names are compared by.
    /// - Throws: `DecodingError.dataCorrupted`.
    func checkNames<Name: Hashable>(_ name: (UInt32) -> Name) throws {
        guard document.options.duplicateKeyStrategy == .refuse else { return }
        var names: Set<Name> = []
        for key in keys where !names.insert(name(key)).inserted { throw duplicate(key) }
    }

    /// Refuses an object in which a name in Swift stands twice, if that is the rule.
    ///
    /// - Throws: `DecodingError.dataCorrupted`.
    func checkNames() throws {
        guard document.namesDependOnPath || isAmbiguous else { return }
        let names = document.details.names
        guard document.namesDependOnPath else {
            return try checkNames { names.canonical(document.keyNumber($0)) }
        }
        // The index has each name once.
        if document.options.duplicateKeyStrategy == .refuse, namedIndex.count < count {
            let path = path
            try checkNames { names.name(document.keyNumber($0), at: path) }
        }
    }
}

// MARK: - Characters

extension UInt8 {
    var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
