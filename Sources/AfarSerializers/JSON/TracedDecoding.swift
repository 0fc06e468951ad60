import Foundation

/// Decodes a value and reports the coding path of a number that doesn't fit its type. `JSONDecoder` reports such a
/// number as invalid JSON, without a path.
struct TracedDecoding<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws { value = try Value(from: TracedDecoder(base: decoder)) }

    /// Decodes text and returns the resulting `DecodingError`, or `nil` if decoding succeeds or throws an error of another
    /// type.
    static func error(in text: Data, _ decoder: JSONDecoder) -> DecodingError? {
        do {
            _ = try decoder.decode(Self.self, from: text)
            return nil
        } catch {
            return error as? DecodingError
        }
    }
}

/// A type that `JSONDecoder` treats specially. Its own `init(from:)` would ignore the decoder's strategies.
private protocol JSONLeaf {}

extension Bool: JSONLeaf {}
extension String: JSONLeaf {}
extension Double: JSONLeaf {}
extension Float: JSONLeaf {}
extension Int: JSONLeaf {}
extension Int8: JSONLeaf {}
extension Int16: JSONLeaf {}
extension Int32: JSONLeaf {}
extension Int64: JSONLeaf {}
extension Int128: JSONLeaf {}
extension UInt: JSONLeaf {}
extension UInt8: JSONLeaf {}
extension UInt16: JSONLeaf {}
extension UInt32: JSONLeaf {}
extension UInt64: JSONLeaf {}
extension UInt128: JSONLeaf {}
extension Data: JSONLeaf {}
extension Date: JSONLeaf {}
extension Decimal: JSONLeaf {}
extension URL: JSONLeaf {}

/// Decodes a leaf.
///
/// - Throws: `DecodingError`. Inside `JSONDecoder`, Foundation throws an error of another type for a number that doesn't fit.
private func decodingLeaf<T>(at path: [any CodingKey], _ decode: () throws -> T) throws -> T {
    do {
        return try decode()
    } catch let error as DecodingError {
        throw error
    } catch {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: path, debugDescription: "The number doesn't fit \(T.self).", underlyingError: error))
    }
}

private struct TracedDecoder: Decoder {
    let base: any Decoder

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(TracedMembers(base: try base.container(keyedBy: type)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        TracedElements(base: try base.unkeyedContainer())
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        TracedValue(base: try base.singleValueContainer())
    }
}

private struct TracedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>

    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }

    func contains(_ key: Key) -> Bool { base.contains(key) }
    func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard T.self is any JSONLeaf.Type else { return try base.decode(TracedDecoding<T>.self, forKey: key).value }
        return try decodingLeaf(at: codingPath + [key]) { try base.decode(type, forKey: key) }
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try decodingLeaf(at: codingPath + [key]) { try base.decode(type, forKey: key) }
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try decodingLeaf(at: codingPath + [key]) { try base.decode(type, forKey: key) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(TracedMembers<NestedKey>(base: try base.nestedContainer(keyedBy: type, forKey: key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        TracedElements(base: try base.nestedUnkeyedContainer(forKey: key))
    }

    func superDecoder() throws -> any Decoder { TracedDecoder(base: try base.superDecoder()) }
    func superDecoder(forKey key: Key) throws -> any Decoder { TracedDecoder(base: try base.superDecoder(forKey: key)) }
}

private struct TracedElements: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }
    private var currentPath: [any CodingKey] { codingPath + [ElementKey(index: currentIndex)] }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard T.self is any JSONLeaf.Type else { return try base.decode(TracedDecoding<T>.self).value }
        return try decodingLeaf(at: currentPath) { try base.decode(type) }
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        try decodingLeaf(at: currentPath) { try base.decode(type) }
    }

    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        try decodingLeaf(at: currentPath) { try base.decode(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(TracedMembers(base: try base.nestedContainer(keyedBy: type)))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        TracedElements(base: try base.nestedUnkeyedContainer())
    }

    mutating func superDecoder() throws -> any Decoder { TracedDecoder(base: try base.superDecoder()) }
}

private struct TracedValue: SingleValueDecodingContainer {
    let base: any SingleValueDecodingContainer

    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard T.self is any JSONLeaf.Type else { return try base.decode(TracedDecoding<T>.self).value }
        return try decodingLeaf(at: codingPath) { try base.decode(type) }
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try decodingLeaf(at: codingPath) { try base.decode(type) } }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decodingLeaf(at: codingPath) { try base.decode(type) } }
}

/// The index of an array element as a coding key.
private struct ElementKey: CodingKey {
    let index: Int

    init(index: Int) { self.index = index }
    init?(intValue: Int) { self.init(index: intValue) }
    init?(stringValue: String) { return nil }

    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }
}
