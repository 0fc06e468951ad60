/// The placement of a key's value in an element.
///
/// Names are local names without a prefix. A placement without a namespace prefers a child in its parent's namespace to other
/// children with the same name. It prefers an attribute in no namespace to other attributes with the same name.
public struct XMLPlacement: Hashable, Sendable {
    let kind: Kind
    let namespace: String?

    enum Kind: Hashable {
        case automatic
        case child
        case attribute
        case text
        case wrapped(item: String?)
    }

    private init(_ kind: Kind, namespace: String? = nil) {
        self.kind = kind
        self.namespace = namespace
    }

    /// When reading, a child element or, if none exists, an attribute. When writing, a child element. The key `#text`
    /// is the element's own text.
    public static let automatic = XMLPlacement(.automatic)
    /// A child element. An array consists of several elements with the same name.
    public static let child = XMLPlacement(.child)
    /// An attribute. The elements of an array are separated by white space.
    public static let attribute = XMLPlacement(.attribute)
    /// The element's own text, without the text of nested elements.
    public static let text = XMLPlacement(.text)

    /// Returns the placement in a child element of a namespace.
    ///
    /// - Parameter namespace: The namespace URI, or an empty string for no namespace.
    public static func child(namespace: String) -> XMLPlacement { XMLPlacement(.child, namespace: namespace) }

    /// Returns the placement in an attribute of a namespace.
    ///
    /// - Parameter namespace: The namespace URI, or an empty string for no namespace.
    public static func attribute(namespace: String) -> XMLPlacement { XMLPlacement(.attribute, namespace: namespace) }

    /// Returns the placement in a child element that contains only an array's elements:
    /// `<items><item/><item/></items>`.
    ///
    /// - Parameters:
    ///   - item: The name of the elements when they are written, or `nil` to use the encoder's ``XMLEncoder/itemName``.
    ///     When reading, elements with any name are accepted.
    ///   - namespace: The namespace URI, an empty string for no namespace, or `nil` for any namespace.
    public static func wrapped(item: String? = nil, namespace: String? = nil) -> XMLPlacement {
        XMLPlacement(.wrapped(item: item), namespace: namespace)
    }
}

/// The strategy that determines the placement of a key's value.
///
/// Property wrappers such as ``XMLAttribute`` and keys that conform to ``XMLCodingKey`` take precedence.
public enum XMLPlacementStrategy: Sendable {
    /// Uses ``XMLPlacement/automatic`` for all keys.
    case automatic
    /// Uses the dictionary's placement for a key's name, at any depth. Uses ``XMLPlacement/automatic`` for other keys.
    case byName([String: XMLPlacement])
    /// Uses the placement that a closure returns for a coding path that ends with the key.
    @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> XMLPlacement)

    /// Returns the placement of a key's value, or `nil` if the strategy specifies no placement.
    func placement(of key: any CodingKey, in codingPath: @autoclosure () -> [any CodingKey]) -> XMLPlacement? {
        switch self {
        case .automatic: nil
        case .byName(let placements): placements[key.stringValue]
        case .custom(let placement): placement(codingPath() + [key])
        }
    }
}

// MARK: - Keys

/// A coding key that specifies the placement of its value.
///
/// ```swift
/// enum CodingKeys: String, XMLCodingKey {
///     case id, creator
///
///     var placement: XMLPlacement {
///         switch self {
///         case .id: .attribute
///         case .creator: .child(namespace: "http://purl.org/dc/elements/1.1/")
///         }
///     }
/// }
/// ```
public protocol XMLCodingKey: CodingKey {
    /// The placement of the value.
    var placement: XMLPlacement { get }
}

/// A key with a name or an index.
struct XMLKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

// MARK: - Choices

/// An enum whose cases are elements. The name of an element determines the case.
///
/// ```swift
/// enum Block: Codable, XMLChoice {
///     case p(Paragraph)
///     case image(Image)
///     case text(String)
///
///     enum CodingKeys: String, CodingKey {
///         case p, image
///         case text = "#text"
///     }
/// }
///
/// struct Chapter: Codable {
///     var blocks: [Block]
/// }
/// ```
///
/// A `Chapter` is decoded from `<chapter><p/>…<image/>…<p/></chapter>`. The blocks are children of the chapter in
/// document order. Elements that aren't cases are ignored, because they can belong to other keys. The property's name,
/// `blocks`, is ignored too. A case with the name `#text` represents the text between the elements, unless it is only
/// white space.
///
/// An enum that doesn't conform to this protocol is decoded from an element that contains the element of its case:
/// `<block><image/></block>`.
public protocol XMLChoice {}

// MARK: - Property wrappers

/// A property wrapper that specifies the placement of its value.
protocol XMLPlaced {
    static var placement: XMLPlacement { get }
}

/// A property wrapper for a value that is an attribute of its element: `@XMLAttribute var id: Int`.
///
/// An array consists of words separated by white space.
///
/// Other coders, such as JSON coders, encode and decode the value without the wrapper.
@propertyWrapper
public struct XMLAttribute<Value> {
    /// The wrapped value.
    public var wrappedValue: Value

    /// Creates a wrapper for a value.
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
    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLAttribute: Decodable where Value: Decodable {
    /// Decodes the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional value, which is `nil` if the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLAttribute<Value?>.Type, forKey key: Key
    ) throws -> XMLAttribute<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLAttribute(wrappedValue: nil)
    }
}

/// A property wrapper for a value that is a child element and never an attribute: `@XMLChild var title: String`.
///
/// Other coders, such as JSON coders, encode and decode the value without the wrapper.
@propertyWrapper
public struct XMLChild<Value> {
    /// The wrapped value.
    public var wrappedValue: Value

    /// Creates a wrapper for a value.
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
    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLChild: Decodable where Value: Decodable {
    /// Decodes the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional value, which is `nil` if the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLChild<Value?>.Type, forKey key: Key
    ) throws -> XMLChild<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLChild(wrappedValue: nil)
    }
}

/// A property wrapper for a value that is its element's own text: `@XMLText var amount: Decimal`. Use this wrapper for elements
/// that have both text and attributes.
///
/// The text of nested elements isn't included.
///
/// Other coders, such as JSON coders, encode and decode the value without the wrapper.
@propertyWrapper
public struct XMLText<Value> {
    /// The wrapped value.
    public var wrappedValue: Value

    /// Creates a wrapper for a value.
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
    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLText: Decodable where Value: Decodable {
    /// Decodes the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional value, which is `nil` if the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLText<Value?>.Type, forKey key: Key
    ) throws -> XMLText<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLText(wrappedValue: nil)
    }
}

/// A property wrapper for an array with an enclosing element: `@XMLWrapped var items: [Item]` corresponds to
/// `<items><item/><item/></items>`.
///
/// When reading, elements with any name are accepted. When writing, their name is ``XMLEncoder/itemName``. To use
/// another name for one array, use ``XMLPlacement/wrapped(item:namespace:)``.
///
/// Other coders, such as JSON coders, encode and decode the value without the wrapper.
@propertyWrapper
public struct XMLWrapped<Value> {
    /// The wrapped value.
    public var wrappedValue: Value

    /// Creates a wrapper for a value.
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
    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension XMLWrapped: Decodable where Value: Decodable {
    /// Decodes the value.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional value, which is `nil` if the key is missing.
    public func decode<Value: Decodable>(
        _ type: XMLWrapped<Value?>.Type, forKey key: Key
    ) throws -> XMLWrapped<Value?> {
        try decodeIfPresent(type, forKey: key) ?? XMLWrapped(wrappedValue: nil)
    }
}
