import CLibxml2

/// The `Decoder` for one part of a document, such as an element or an attribute (``NodePart``). It is also the part's
/// single-value container, and it stores the state of the part's keyed container.
///
/// Each decoder stores its key and its parent, so a coding path is created only when it is needed.
final class ElementDecoder: Decoder {
    let decoding: Decoding
    let part: NodePart
    let parent: ElementDecoder?
    let key: (any CodingKey)?
    /// The node at which the last lookup ended. The next lookup starts there, because in most documents the element of
    /// the next key follows.
    var cursor: xmlNodePtr?
    /// A set of bits for the names of the nodes before the cursor.
    var passedNames: UInt64 = 0
    /// The index of children and attributes by key, if it has been created.
    var index: NodeIndex?
    /// The number of elements of the list, if they have been counted.
    var listCount: Int?
    private var joinedText: UnsafeMutableBufferPointer<UInt8>?

    init(_ part: NodePart, _ decoding: Decoding, inside parent: ElementDecoder?, key: (any CodingKey)?) {
        self.part = part
        self.decoding = decoding
        self.parent = parent
        self.key = key
        cursor = part.isAttribute ? nil : part.node.pointee.children
    }

    deinit { joinedText?.deallocate() }

    /// The text, which remains valid as long as this decoder exists.
    var retainedText: UnsafeBufferPointer<UInt8> {
        if let text = part.onlyText { return text }
        let text =
            joinedText
            ?? part.withOwnText { text, _ in
                let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count)
                _ = copy.initialize(from: text)
                return copy
            }
        joinedText = text
        return UnsafeBufferPointer(text)
    }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var next: ElementDecoder? = self
        while let decoder = next {
            if let key = decoder.key { path.append(key) }
            next = decoder.parent
        }
        return path.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { decoding.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch part.role {
        case .value, .item, .content, .choice, .run:
            if part.isNil { throw valueNotFound([String: Any].self) }
        case .absent:
            throw valueNotFound([String: Any].self)
        case .ownText, .word, .choices:
            throw mismatch([String: Any].self, "Expected an element with keys, found text")
        }
        return KeyedDecodingContainer(KeyedElements<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ListedElements(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// Looks up the elements of a list in the index. Returns `nil` if there is no index or no key.
    func indexedElements(withSameNameAs node: xmlNodePtr, _ key: (any CodingKey)?) -> [xmlNodePtr]? {
        guard let index, let key else { return nil }
        return (index.nodes[key.stringValue] ?? index.nodes[decoding.name(of: key)])?.filter {
            NodePart($0, .value).isElement && $0.hasSameName(as: node)
        }
    }

    /// Returns the decoder for a value of the given kind. It decodes an ``XMLChoice`` from the element's name instead
    /// of its content.
    @inline(never)
    func adjusted(to kind: DecodedKind) -> ElementDecoder {
        guard case .item = part.role else { return self }
        switch kind {
        case .choice:
            return ElementDecoder(NodePart(part.node, .choice), decoding, inside: self, key: nil)
        case .list(let element, isOfChoices: true):
            return ElementDecoder(NodePart(part.node, .choices(element)), decoding, inside: self, key: nil)
        case .initializer, .text, .scalar, .date, .data, .list, .placed: return self
        }
    }

    /// The part for a missing value.
    var absentPart: NodePart { NodePart(part.node, .absent) }

    /// Returns the part for a missing value, or `nil` if this kind of type can't be decoded from a missing value. A
    /// missing list is decoded as an empty list. A property wrapper can also be decoded, because the wrapped value can
    /// be a list.
    func absentPart(for kind: DecodedKind) -> NodePart? {
        switch kind {
        case .list, .placed: absentPart
        case .initializer, .text, .scalar, .date, .data, .choice: nil
        }
    }

    /// Returns the decoder of a part inside this part.
    func inner(_ part: NodePart, _ key: any CodingKey) -> ElementDecoder {
        ElementDecoder(part, decoding, inside: self, key: key)
    }
}

extension ElementDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { part.isNil }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoding.value(type, here: self)
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try decoding.value(type, here: self) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decoding.value(type, here: self) }
}

extension ElementDecoder {
    /// Returns the error for a value of the wrong kind.
    func mismatch(_ type: any Any.Type, _ description: String) -> DecodingError {
        decoding.failure(description, at: part, { .typeMismatch(type, $0) }, codingPath)
    }

    /// Returns the error for text in an invalid format.
    func unreadable(_ expectation: String) -> DecodingError {
        let text = part.text
        let excerpt = text.count > 40 ? text.prefix(40) + "…" : text
        let hasElements = part.withTrimmedText { _ in true } == nil
        let found = hasElements ? "elements" : "\(excerpt.debugDescription)"
        return decoding.failure(
            "Expected \(expectation), found \(found)", at: part, DecodingError.dataCorrupted, codingPath)
    }

    /// Returns the error for a required value that is nil or missing.
    func valueNotFound(_ type: any Any.Type) -> DecodingError {
        if part.isAbsent, let key, let parent { return parent.missing(key) }
        return decoding.failure("Expected \(type), found xsi:nil", at: part, { .valueNotFound(type, $0) }, codingPath)
    }

    /// Returns the error for a value that is nested more deeply than the thread's stack allows.
    func tooDeep(_ depth: Int) -> DecodingError {
        decoding.failure(
            "The value is nested \(depth) levels deep, and this thread's stack has no room for more", at: part,
            DecodingError.dataCorrupted, codingPath)
    }

    /// Returns the error for a missing key.
    func missing(_ key: any CodingKey) -> DecodingError {
        let name = decoding.name(of: key)
        return decoding.failure(
            "Found no element or attribute named \(name)", at: part, { .keyNotFound(key, $0) }, codingPath)
    }
}
