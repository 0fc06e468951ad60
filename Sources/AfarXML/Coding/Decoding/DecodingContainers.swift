import CLibxml2

/// A keyed container for the children and attributes of an element.
struct KeyedElements<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let element: ElementDecoder
    private let keysHavePlacements: Bool

    init(_ element: ElementDecoder) {
        self.element = element
        keysHavePlacements = element.decoding.keysHavePlacements(Key.self)
    }

    var codingPath: [any CodingKey] { element.codingPath }

    var allKeys: [Key] {
        element.keys.compactMap { element.decoding.key(Key.self, for: $0) }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard let part = find(key) else { throw element.missing(key) }
        return part.isNil
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let decoding = element.decoding
        guard let part = part(of: type, key) ?? element.absentPart(for: decoding.kind(of: type)) else {
            throw element.missing(key)
        }
        return try decoding.value(type, at: part, inside: element, key: key)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let part = part(of: type, key) else { return nil }
        if part.isNilForOptional {
            // If later siblings have the same name, the part is the first element of a list. Then only this element is
            // nil, not the entire list.
            guard case .list = element.decoding.kind(of: type), part.hasLaterSiblingWithSameName else { return nil }
        }
        return try element.decoding.value(type, at: part, inside: element, key: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        guard let part = find(key) else { throw element.missing(key) }
        let content = if case .run = part.role { part } else { NodePart(part.node, .content) }
        return try element.inner(content, key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try element.inner(find(key) ?? element.absentPart, key).unkeyedContainer()
    }

    /// Returns the same decoder, because the fields of a superclass are in the same element.
    func superDecoder() throws -> any Decoder { element }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        element.inner(find(key) ?? element.absentPart, key)
    }

    @inline(__always)
    private func find(_ key: Key, _ placement: XMLPlacement? = nil) -> NodePart? {
        element.find(key, placement, keysHavePlacements: keysHavePlacements)
    }

    private func part(of type: any Decodable.Type, _ key: Key) -> NodePart? {
        switch element.decoding.kind(of: type) {
        case .placed(let placement): find(key, placement)
        case .choice: find(key, isChoice: type)
        case .list(let choices, isOfChoices: true): find(key, areChoices: choices)
        case .initializer, .text, .scalar, .date, .data, .list: find(key)
        }
    }

    // MARK: Common field types
    //
    // The following methods are faster than the generic method, which must first look up how to decode the type.

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        guard let part = find(key), !part.isNil, !part.isList else { return try decodeOther(type, key) }
        return part.text
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let part = find(key), !part.isNilForOptional else { return nil }
        return part.text
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decodeScalar(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decodeScalar(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decodeScalar(key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try decodeScalarIfPresent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try decodeScalarIfPresent(key) }

    @inline(__always)
    private func decodeScalar<Value: XMLScalar>(_ key: Key) throws -> Value {
        guard let part = find(key), !part.isNil, let value = part.scalar(Value.self) else {
            return try decodeOther(Value.self, key)
        }
        return value
    }

    @inline(__always)
    private func decodeScalarIfPresent<Value: XMLScalar>(_ key: Key) throws -> Value? {
        guard let part = find(key), !part.isNilForOptional else { return nil }
        guard let value = part.scalar(Value.self) else { return try decodeOther(Value.self, key) }
        return value
    }

    /// Decodes a value again with the generic code, after one of the methods above has failed. The generic code throws
    /// an error that describes the problem.
    @inline(never)
    private func decodeOther<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        guard let part = find(key) else { throw element.missing(key) }
        return try element.decoding.value(type, here: element.inner(part, key))
    }
}

// MARK: Choices

extension KeyedElements {
    /// Returns the first child that is a case of an enum. If the key has a placement, returns the part at that
    /// placement, which contains the case.
    private func find(_ key: Key, isChoice type: any Decodable.Type) -> NodePart? {
        let placement = element.placement(of: key)
        guard placement.kind == .automatic else { return find(key, placement) }
        return element.choice(of: type)
    }

    /// Returns the part for all children that are cases of an enum.
    private func find(_ key: Key, areChoices type: any Decodable.Type) -> NodePart? {
        let placement = element.placement(of: key)
        guard placement.kind == .automatic else { return find(key, placement).map { NodePart($0.node, .item) } }
        return element.choice(of: type).map { _ in NodePart(element.part.node, .choices(type)) }
    }
}

// These methods replace the protocol's default implementations, which perform three lookups per value and throw an
// error for 128-bit integers.

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
    private let walker: NodeWalker
    private var next: NodePart?
    private(set) var currentIndex = 0

    init(_ list: ElementDecoder) {
        self.list = list
        walker = NodeWalker(list)
        next = walker.first
    }

    var codingPath: [any CodingKey] { list.codingPath }
    var isAtEnd: Bool { next == nil }

    var count: Int? {
        if let count = list.listCount { return count }
        var count = currentIndex
        var rest = next
        while let part = rest {
            count += 1
            rest = walker.after(part, at: count)
        }
        list.listCount = count
        return count
    }

    mutating func decodeNil() throws -> Bool {
        guard let part = next else { throw end(Any?.self) }
        guard part.isNil else { return false }
        advance(part)
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let part = next else { throw end(type) }
        let value = try list.decoding.value(type, at: part, inside: list, key: XMLKey(intValue: currentIndex))
        advance(part)
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
        guard let part = next else { throw end(type) }
        let decoder = list.inner(part, XMLKey(intValue: currentIndex))
        advance(part)
        return decoder
    }

    private mutating func advance(_ part: NodePart) {
        currentIndex += 1
        next = walker.after(part, at: currentIndex)
    }

    private func end(_ type: any Any.Type) -> DecodingError {
        list.decoding.failure(
            "The list has only \(currentIndex) elements", at: list.part, { .valueNotFound(type, $0) },
            codingPath + [XMLKey(intValue: currentIndex)])
    }
}

/// The traversal of a list's elements.
struct NodeWalker {
    private let list: ElementDecoder
    private let traversal: Traversal

    private enum Traversal {
        case nothing
        /// The children of the element.
        case children
        /// The children that are cases of an enum.
        case choices(any Decodable.Type)
        /// The siblings with the same name in the same namespace.
        case sameName
        /// The siblings with the same name, taken from the index.
        case indexed([xmlNodePtr])
        /// The words of a piece of text.
        case words(UnsafeBufferPointer<UInt8>)
    }

    init(_ list: ElementDecoder) {
        self.list = list
        let part = list.part
        traversal =
            switch part.role {
            case .absent, .choice: .nothing
            case .choices(let type): .choices(type)
            case .ownText, .run, .word: .words(list.retainedText)
            case .item, .content: part.isElement ? .children : .words(list.retainedText)
            case .value where part.isAttribute: .words(list.retainedText)
            case .value:
                if let elements = list.parent?.indexedElements(withSameNameAs: part.node, list.key) {
                    .indexed(elements)
                } else {
                    .sameName
                }
            }
    }

    var first: NodePart? {
        let part = list.part
        return switch traversal {
        case .nothing: nil
        case .children: element(from: part.node.pointee.children)
        case .choices(let type): choice(from: part.node.pointee.children, type)
        case .sameName: NodePart(part.node, .item)
        case .indexed(let nodes): nodes.first.map { NodePart($0, .item) }
        case .words(let text): word(in: text)
        }
    }

    /// Returns the part that follows another part. The returned part has the given index in the list.
    func after(_ part: NodePart, at index: Int) -> NodePart? {
        switch traversal {
        case .nothing: return nil
        case .children: return element(from: part.node.pointee.next)
        case .choices(let type): return choice(from: part.node.pointee.next, type)
        case .indexed(let nodes): return index < nodes.count ? NodePart(nodes[index], .item) : nil
        case .words(let text):
            guard case .word(let word) = part.role, let start = text.baseAddress, let end = word.baseAddress
            else { return nil }
            return self.word(in: UnsafeBufferPointer(rebasing: text[(end - start + word.count)...]))
        case .sameName:
            var next = part.node.pointee.next
            while let node = next {
                if node.pointee.type == XML_ELEMENT_NODE, node.hasSameName(as: part.node) {
                    return NodePart(node, .item)
                }
                next = node.pointee.next
            }
            return nil
        }
    }

    private func element(from start: xmlNodePtr?) -> NodePart? {
        var next = start
        while let node = next {
            if node.pointee.type == XML_ELEMENT_NODE { return NodePart(node, .item) }
            next = node.pointee.next
        }
        return nil
    }

    private func choice(from start: xmlNodePtr?, _ type: any Decodable.Type) -> NodePart? {
        var next = start
        while let node = next {
            if let choice = list.decoding.choice(at: node, of: type) { return choice }
            next = node.pointee.next
        }
        return nil
    }

    private func word(in text: UnsafeBufferPointer<UInt8>) -> NodePart? {
        guard let start = text.firstIndex(where: { !$0.isXMLSpace }) else { return nil }
        let end = text[start...].firstIndex(where: \.isXMLSpace) ?? text.endIndex
        return NodePart(list.part.node, .word(UnsafeBufferPointer(rebasing: text[start..<end])))
    }
}
