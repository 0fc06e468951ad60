/// The children and attributes of an element, by key.
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
            // A list whose first element is nil is no nil.
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

    /// What a superclass decodes stands beside the fields of the subclass.
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

    // MARK: What most fields are
    //
    // Without these, they would go through the generic method, which must find out their type.

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

    /// Finds out what is wrong.
    @inline(never)
    private func decodeOther<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        guard let place = find(key) else { throw element.missing(key) }
        return try element.decoding.value(type, here: element.inner(place, key))
    }
}

// MARK: Choices

extension KeyedElements {
    /// The first child that is a case of an enum; where the key says that it has an element of its own, in that.
    private func find(_ key: Key, isChoice type: any Decodable.Type) -> Place? {
        let placement = element.placement(of: key)
        guard placement.kind == .automatic else { return find(key, placement) }
        return element.choice(of: type)
    }

    /// As ``find(_:isChoice:)``, for all children that are.
    private func find(_ key: Key, areChoices type: any Decodable.Type) -> Place? {
        let placement = element.placement(of: key)
        guard placement.kind == .automatic else { return find(key, placement).map { Place($0.node, .item) } }
        return element.choice(of: type).map { _ in Place(element.place.node, .choices(type)) }
    }
}

// The standard library answers for the rest of the primitive types with three look-ups each, and for the widest integers
// with an error.

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
