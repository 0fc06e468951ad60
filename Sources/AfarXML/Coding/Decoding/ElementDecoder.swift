import CLibxml2

/// The decoder of one place, which is also its single-value container and stores the state of its keyed container.
///
/// Decoders are linked to their parents, so coding paths are only created on demand.
final class ElementDecoder: Decoder {
    let decoding: Decoding
    let place: Place
    let parent: ElementDecoder?
    let key: (any CodingKey)?
    /// The position at which the last lookup ended. In most documents, the element of the next key follows.
    var cursor: xmlNodePtr?
    /// A set of bits for the names of the nodes before the cursor.
    var passedNames: UInt64 = 0
    /// The index of children and attributes by key, if it was required.
    var index: NodeIndex?
    /// The number of elements of the list, once counted.
    var listCount: Int?
    private var joinedText: UnsafeMutableBufferPointer<UInt8>?

    init(_ place: Place, _ decoding: Decoding, inside parent: ElementDecoder?, key: (any CodingKey)?) {
        self.place = place
        self.decoding = decoding
        self.parent = parent
        self.key = key
        cursor = place.isAttribute ? nil : place.node.pointee.children
    }

    deinit { joinedText?.deallocate() }

    /// The text, which remains valid as long as this decoder.
    var keptText: UnsafeBufferPointer<UInt8> {
        if let text = place.onlyText { return text }
        let text =
            joinedText
            ?? place.withOwnText { text, _ in
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
        switch place.role {
        case .value, .item, .content, .choice, .run:
            if place.isNil { throw nothing([String: Any].self) }
        case .absent:
            throw nothing([String: Any].self)
        case .ownText, .word, .choices:
            throw mismatch([String: Any].self, "Expected an element with keys, found text")
        }
        return KeyedDecodingContainer(KeyedElements<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        ListedElements(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// Returns the elements of a list from the index, if it exists.
    func indexedNamesakes(of node: xmlNodePtr, _ key: (any CodingKey)?) -> [xmlNodePtr]? {
        guard let index, let key else { return nil }
        return (index.nodes[key.stringValue] ?? index.nodes[decoding.name(of: key)])?.filter {
            Place($0, .value).isElement && $0.isNamesake(of: node)
        }
    }

    /// Returns the decoder for a type at this place. For an enum, it refers to the element's name instead of its
    /// content.
    @inline(never)
    func adjusted(to kind: DecodedKind) -> ElementDecoder {
        guard case .item = place.role else { return self }
        switch kind {
        case .choice:
            return ElementDecoder(Place(place.node, .choice), decoding, inside: self, key: nil)
        case .list(let element, isOfChoices: true):
            return ElementDecoder(Place(place.node, .choices(element)), decoding, inside: self, key: nil)
        case .own, .text, .scalar, .date, .data, .list, .placed: return self
        }
    }

    /// The place of a missing value.
    var absence: Place { Place(place.node, .absent) }

    /// Returns the place for types that can decode a missing value: a list, which is then empty, or a property wrapper,
    /// which can contain a list.
    func absence(for kind: DecodedKind) -> Place? {
        switch kind {
        case .list, .placed: absence
        case .own, .text, .scalar, .date, .data, .choice: nil
        }
    }

    /// Returns the decoder of a place inside this one.
    func inner(_ place: Place, _ key: any CodingKey) -> ElementDecoder {
        ElementDecoder(place, decoding, inside: self, key: key)
    }
}

// MARK: A single value

extension ElementDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { place.isNil }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoding.value(type, here: self)
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try decoding.value(type, here: self) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decoding.value(type, here: self) }
}

// MARK: - Errors

extension ElementDecoder {
    /// Returns the error for a value of the wrong kind.
    func mismatch(_ type: any Any.Type, _ description: String) -> DecodingError {
        decoding.failure(description, at: place, { .typeMismatch(type, $0) }, codingPath)
    }

    /// Returns the error for text in an invalid format.
    func unreadable(_ expectation: String) -> DecodingError {
        let text = place.text
        let excerpt = text.count > 40 ? text.prefix(40) + "…" : text
        let hasElements = place.withTrimmedText { _ in true } == nil
        let found = hasElements ? "elements" : "\(excerpt.debugDescription)"
        return decoding.failure(
            "Expected \(expectation), found \(found)", at: place, DecodingError.dataCorrupted, codingPath)
    }

    /// Returns the error for a required value that is nil or missing.
    func nothing(_ type: any Any.Type) -> DecodingError {
        if place.isAbsent, let key, let parent { return parent.missing(key) }
        return decoding.failure("Expected \(type), found xsi:nil", at: place, { .valueNotFound(type, $0) }, codingPath)
    }

    /// Returns the error for a value that is nested more deeply than the thread's stack allows.
    func tooDeep(_ depth: Int) -> DecodingError {
        decoding.failure(
            "The value is nested \(depth) levels deep, and this thread's stack has no room for more", at: place,
            DecodingError.dataCorrupted, codingPath)
    }

    /// Returns the error for a missing key.
    func missing(_ key: any CodingKey) -> DecodingError {
        let name = decoding.name(of: key)
        return decoding.failure(
            "Found no element or attribute named \(name)", at: place, { .keyNotFound(key, $0) }, codingPath)
    }
}
