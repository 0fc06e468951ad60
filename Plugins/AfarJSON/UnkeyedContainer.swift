import Foundation

/// The elements of an array.
struct UnkeyedContainer: UnkeyedDecodingContainer {
    private let array: JSONValue
    private var next: UInt32
    private(set) var currentIndex = 0
    private let length: Int

    init(_ value: JSONValue) throws {
        guard value.document.first(value.node) == UInt8(ascii: "[") else {
            throw value.document.mismatch([Any].self, at: value)
        }
        array = value
        next = value.node + 3
        length = value.document.count(of: value.node)
    }

    private var document: JSONDocument { array.document }

    var codingPath: [any CodingKey] { document.path(to: array) }
    var count: Int? { length }
    var isAtEnd: Bool { currentIndex >= length }

    // MARK: Elements

    private func element(_ type: Any.Type) throws -> JSONValue {
        guard !isAtEnd else { throw document.noElement(type, in: array, index: currentIndex) }
        return JSONValue(document: document, node: next, parent: array.node, place: UInt32(currentIndex))
    }

    private mutating func advance() {
        next = document.end(of: next)
        currentIndex += 1
    }

    /// Reads an element, and goes on to the next if that succeeded.
    @inline(__always)
    private mutating func take<T>(_ type: T.Type, _ read: (JSONValue) throws -> T) throws -> T {
        let value = try read(element(type))
        advance()
        return value
    }

    // MARK: Decoding

    mutating func decodeNil() throws -> Bool {
        let isNull = document.isNull(try element(Any?.self).node)
        if isNull { advance() }
        return isNull
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try take(type) { try $0.document.bool(at: $0) } }
    mutating func decode(_ type: String.Type) throws -> String { try take(type) { try $0.document.string(at: $0) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try take(type) { try $0.document.double(at: $0) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try take(type) { try $0.document.float(at: $0) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try take(type) { try $0.document.decode(type, at: $0) }
    }

    private mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        try take(type) { try $0.document.integer(type, at: $0) }
    }

    // MARK: Nesting

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try take(KeyedDecodingContainer<NestedKey>.self) {
            KeyedDecodingContainer(try KeyedContainer<NestedKey>($0))
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take((any UnkeyedDecodingContainer).self) { try UnkeyedContainer($0) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try take((any Decoder).self) { ValueDecoder(value: $0) }
    }
}
