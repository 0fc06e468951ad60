import Foundation

/// The elements of an array.
struct UnkeyedContainer: UnkeyedDecodingContainer {
    private let array: JSONValue
    private var next: UInt32
    private(set) var currentIndex = 0
    private let length: Int

    init(_ value: JSONValue) throws {
        try value.require(value.isArray, [Any].self)
        array = value
        next = value.node + 3
        length = value.count
    }

    var codingPath: [any CodingKey] { array.isOpen ? array.path : [] }
    var count: Int? { length }
    var isAtEnd: Bool { currentIndex >= length }

    // MARK: Elements

    private func element(_ type: Any.Type) throws -> JSONValue {
        guard array.isOpen else { throw JSONValue.closed }
        guard !isAtEnd else { throw array.lacks(type, at: currentIndex) }
        return JSONValue(document: array.document, node: next, parent: array.node, place: UInt32(currentIndex))
    }

    private mutating func advance() {
        next = array.document.end(of: next)
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
        let isNull = try element(Any?.self).isNull
        if isNull { advance() }
        return isNull
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try take(type) { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try take(type) { try $0.string() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try take(type) { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try take(type) { try $0.float() } }
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
        try take(type) { try $0.decode(type) }
    }

    private mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        try take(type) { try $0.integer(type) }
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
        try take((any Decoder).self) { ValueDecoder($0) }
    }
}
