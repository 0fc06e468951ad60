/// A property whose value is a child element, never an attribute: `@XMLChild var title: String`.
///
/// Other coders, of JSON say, see the value alone.
@propertyWrapper
public struct XMLChild<Value> {
    /// The value.
    public var wrappedValue: Value

    /// Makes a wrapper of a value.
    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }
}

extension XMLChild: XMLPlaced {
    static var placement: XMLPlacement { .child }
}

extension XMLChild: Sendable where Value: Sendable {}
extension XMLChild: Equatable where Value: Equatable {}
extension XMLChild: Hashable where Value: Hashable {}

extension XMLChild: Encodable where Value: Encodable {
    /// Writes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLChild: Decodable where Value: Decodable {
    /// Reads the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Reads an optional value, which is nil where the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLChild<Value?>.Type, forKey key: Key
    ) throws -> XMLChild<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLChild(wrappedValue: nil)
    }
}
