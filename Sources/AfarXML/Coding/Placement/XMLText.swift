/// A property whose value is its element's own text: `@XMLText var amount: Decimal`, beside attributes.
///
/// The text of elements inside the element is not part of it.
///
/// Other coders, of JSON say, see the value alone.
@propertyWrapper
public struct XMLText<Value> {
    /// The value.
    public var wrappedValue: Value

    /// Makes a wrapper of a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension XMLText: XMLPlaced {
    static var placement: XMLPlacement { .text }
}

extension XMLText: Sendable where Value: Sendable {}
extension XMLText: Equatable where Value: Equatable {}
extension XMLText: Hashable where Value: Hashable {}

extension XMLText: Encodable where Value: Encodable {
    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLText: Decodable where Value: Decodable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Reads an optional value, which is nil where the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLText<Value?>.Type, forKey key: Key
    ) throws -> XMLText<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLText(wrappedValue: nil)
    }
}
