import CJSONDocument

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

extension UInt8 {
    var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
