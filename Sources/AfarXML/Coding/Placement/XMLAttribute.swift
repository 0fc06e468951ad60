/// A property whose value is an attribute of its element: `@XMLAttribute var id: Int`.
///
/// An array is words with white space between them.
///
/// Other coders, of JSON say, see the value alone.
@propertyWrapper
public struct XMLAttribute<Value> {
    /// The value.
    public var wrappedValue: Value

    /// Makes a wrapper of a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension XMLAttribute: XMLPlaced {
    static var placement: XMLPlacement { .attribute }
}

extension XMLAttribute: Sendable where Value: Sendable {}
extension XMLAttribute: Equatable where Value: Equatable {}
extension XMLAttribute: Hashable where Value: Hashable {}

extension XMLAttribute: Encodable where Value: Encodable {
    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLAttribute: Decodable where Value: Decodable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Reads an optional value, which is nil where the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLAttribute<Value?>.Type, forKey key: Key
    ) throws -> XMLAttribute<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLAttribute(wrappedValue: nil)
    }
}
