/// An array that has an element of its own: `@XMLWrapped var items: [Item]` is `<items><item/><item/></items>`.
///
/// Elements of any name are read; ``XMLEncoder/itemName`` is the name that is written. To choose that for one array, use
/// ``XMLPlacement/wrapped(item:namespace:)``.
///
/// Other coders, of JSON say, see the value alone.
@propertyWrapper
public struct XMLWrapped<Value> {
    /// The value.
    public var wrappedValue: Value

    /// Makes a wrapper of a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension XMLWrapped: XMLPlaced {
    static var placement: XMLPlacement { .wrapped() }
}

extension XMLWrapped: Sendable where Value: Sendable {}
extension XMLWrapped: Equatable where Value: Equatable {}
extension XMLWrapped: Hashable where Value: Hashable {}

extension XMLWrapped: Encodable where Value: Encodable {
    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLWrapped: Decodable where Value: Decodable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Reads an optional value, which is nil where the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLWrapped<Value?>.Type, forKey key: Key
    ) throws -> XMLWrapped<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLWrapped(wrappedValue: nil)
    }
}
