import CLibxml2

/// A keyed container for the children and attributes of an element.
struct KeyedElements<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let element: ElementDecoder
    private let keysHavePlacements: Bool

    init(_ element: ElementDecoder) {
        self.element = element
        keysHavePlacements = element.decoding.haveKeysPlacements(Key.self)
    }

    var codingPath: [any CodingKey] { element.codingPath }

    var allKeys: [Key] {
        element.keys.compactMap { element.decoding.key(Key.self, for: $0) }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard let place = find(key) else { throw element.missing(key) }
        return place.isNil
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let decoding = element.decoding
        guard let place = place(of: type, key) ?? element.absence(for: decoding.kind(of: type)) else {
            throw element.missing(key)
        }
        return try decoding.value(type, at: place, inside: element, key: key)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let place = place(of: type, key) else { return nil }
        if place.isNothing {
            // Only the first of several elements is nil.
            guard case .list = element.decoding.kind(of: type), place.hasNamesake else { return nil }
        }
        return try element.decoding.value(type, at: place, inside: element, key: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        guard let place = find(key) else { throw element.missing(key) }
        let content = if case .run = place.role { place } else { Place(place.node, .content) }
        return try element.inner(content, key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try element.inner(find(key) ?? element.absence, key).unkeyedContainer()
    }

    /// Returns the same decoder, because the fields of a superclass are in the same element.
    func superDecoder() throws -> any Decoder { element }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        element.inner(find(key) ?? element.absence, key)
    }

    @inline(__always)
    private func find(_ key: Key, _ placement: XMLPlacement? = nil) -> Place? {
        element.find(key, placement, keysHavePlacements: keysHavePlacements)
    }

    private func place(of type: any Decodable.Type, _ key: Key) -> Place? {
        switch element.decoding.kind(of: type) {
        case .placed(let placement): find(key, placement)
        case .choice: find(key, isChoice: type)
        case .list(let choices, isOfChoices: true): find(key, areChoices: choices)
        case .own, .text, .scalar, .date, .data, .list: find(key)
        }
    }

    // MARK: Common field types
    //
    // These avoid the generic method, which must determine the type.

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        guard let place = find(key), !place.isNil, !place.isList else { return try decodeOther(type, key) }
        return place.text
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let place = find(key), !place.isNothing else { return nil }
        return place.text
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decodeScalar(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decodeScalar(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decodeScalar(key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try decodeScalarIfPresent(key) }

    @inline(__always)
    private func decodeScalar<Value: XMLScalar>(_ key: Key) throws -> Value {
        guard let place = find(key), !place.isNil, let value = place.scalar(Value.self) else {
            return try decodeOther(Value.self, key)
        }
        return value
    }

    @inline(__always)
    private func decodeScalarIfPresent<Value: XMLScalar>(_ key: Key) throws -> Value? {
        guard let place = find(key), !place.isNothing else { return nil }
        guard let value = place.scalar(Value.self) else { return try decodeOther(Value.self, key) }
        return value
    }

    /// Decodes through the generic path, which throws the specific error.
    @inline(never)
    private func decodeOther<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        guard let place = find(key) else { throw element.missing(key) }
        return try element.decoding.value(type, here: element.inner(place, key))
    }
}

// MARK: Choices

extension KeyedElements {
    /// Returns the first child that is a case of an enum. If the key has a placement of its own, the case is inside the
    /// key's element.
    private func find(_ key: Key, isChoice type: any Decodable.Type) -> Place? {
        let placement = element.placement(of: key)
        guard placement.kind == .automatic else { return find(key, placement) }
        return element.choice(of: type)
    }

    /// Returns the place of all children that are cases of an enum.
    private func find(_ key: Key, areChoices type: any Decodable.Type) -> Place? {
        let placement = element.placement(of: key)
        guard placement.kind == .automatic else { return find(key, placement).map { Place($0.node, .item) } }
        return element.choice(of: type).map { _ in Place(element.place.node, .choices(type)) }
    }
}

// The defaults perform three lookups per type and throw an error for 128-bit integers.

extension KeyedElements {
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decodeScalar(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decodeScalar(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try decodeScalarIfPresent(key) }
}

// MARK: - Lists

/// An unkeyed container for the elements of a list.
struct ListedElements: UnkeyedDecodingContainer {
    private let list: ElementDecoder
    private let walk: Walk
    private var next: Place?
    private(set) var currentIndex = 0

    init(_ list: ElementDecoder) {
        self.list = list
        walk = Walk(list)
        next = walk.first
    }

    var codingPath: [any CodingKey] { list.codingPath }
    var isAtEnd: Bool { next == nil }

    var count: Int? {
        if let count = list.listCount { return count }
        var count = currentIndex
        var rest = next
        while let place = rest {
            count += 1
            rest = walk.after(place, at: count)
        }
        list.listCount = count
        return count
    }

    mutating func decodeNil() throws -> Bool {
        guard let place = next else { throw end(Any?.self) }
        guard place.isNil else { return false }
        advance(place)
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let place = next else { throw end(type) }
        let value = try list.decoding.value(type, at: place, inside: list, key: XMLKey(intValue: currentIndex))
        advance(place)
        return value
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try takeNext(type).decode(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try takeNext(type).decode(type) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try takeNext([String: Any].self).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try takeNext([Any].self).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try takeNext(Any.self) }

    private mutating func takeNext(_ type: any Any.Type) throws -> ElementDecoder {
        guard let place = next else { throw end(type) }
        let decoder = list.inner(place, XMLKey(intValue: currentIndex))
        advance(place)
        return decoder
    }

    private mutating func advance(_ place: Place) {
        currentIndex += 1
        next = walk.after(place, at: currentIndex)
    }

    private func end(_ type: any Any.Type) -> DecodingError {
        list.decoding.failure(
            "The list has only \(currentIndex) elements", at: list.place, { .valueNotFound(type, $0) },
            codingPath + [XMLKey(intValue: currentIndex)])
    }
}

/// The traversal of a list's elements.
struct Walk {
    private let list: ElementDecoder
    private let route: Route

    private enum Route {
        case nothing
        /// The children of the element.
        case children
        /// The children that are cases of an enum.
        case choices(any Decodable.Type)
        /// The siblings with the same name in the same namespace.
        case namesakes
        /// The siblings with the same name, taken from the index.
        case listed([xmlNodePtr])
        /// The words of a text.
        case words(UnsafeBufferPointer<UInt8>)
    }

    init(_ list: ElementDecoder) {
        self.list = list
        let place = list.place
        route =
            switch place.role {
            case .absent, .choice: .nothing
            case .choices(let type): .choices(type)
            case .ownText, .run, .word: .words(list.keptText)
            case .item, .content: place.isElement ? .children : .words(list.keptText)
            case .value where place.isAttribute: .words(list.keptText)
            case .value:
                if let namesakes = list.parent?.indexedNamesakes(of: place.node, list.key) {
                    .listed(namesakes)
                } else {
                    .namesakes
                }
            }
    }

    var first: Place? {
        let place = list.place
        return switch route {
        case .nothing: nil
        case .children: element(from: place.node.pointee.children)
        case .choices(let type): choice(from: place.node.pointee.children, type)
        case .namesakes: Place(place.node, .item)
        case .listed(let nodes): nodes.first.map { Place($0, .item) }
        case .words(let text): word(in: text)
        }
    }

    /// Returns the place after another one, which has the given index in the list.
    func after(_ place: Place, at index: Int) -> Place? {
        switch route {
        case .nothing: return nil
        case .children: return element(from: place.node.pointee.next)
        case .choices(let type): return choice(from: place.node.pointee.next, type)
        case .listed(let nodes): return index < nodes.count ? Place(nodes[index], .item) : nil
        case .words(let text):
            guard case .word(let word) = place.role, let start = text.baseAddress, let end = word.baseAddress
            else { return nil }
            return self.word(in: UnsafeBufferPointer(rebasing: text[(end - start + word.count)...]))
        case .namesakes:
            var next = place.node.pointee.next
            while let node = next {
                if node.pointee.type == XML_ELEMENT_NODE, node.isNamesake(of: place.node) {
                    return Place(node, .item)
                }
                next = node.pointee.next
            }
            return nil
        }
    }

    private func element(from start: xmlNodePtr?) -> Place? {
        var next = start
        while let node = next {
            if node.pointee.type == XML_ELEMENT_NODE { return Place(node, .item) }
            next = node.pointee.next
        }
        return nil
    }

    private func choice(from start: xmlNodePtr?, _ type: any Decodable.Type) -> Place? {
        var next = start
        while let node = next {
            if let choice = list.decoding.choice(at: node, of: type) { return choice }
            next = node.pointee.next
        }
        return nil
    }

    private func word(in text: UnsafeBufferPointer<UInt8>) -> Place? {
        guard let start = text.firstIndex(where: { !$0.isXMLSpace }) else { return nil }
        let end = text[start...].firstIndex(where: \.isXMLSpace) ?? text.endIndex
        return Place(list.place.node, .word(UnsafeBufferPointer(rebasing: text[start..<end])))
    }
}
