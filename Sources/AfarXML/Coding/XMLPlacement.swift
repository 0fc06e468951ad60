/// Where in an element the value of a key stands.
///
/// Names are local names, without a prefix. Where no namespace is given, a child in the namespace of its parent, or an
/// attribute in none, is taken before others of the same name.
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

    /// A child element; where there is none, an attribute. It is written as a child element. The key `#text` is the
    /// element's own text.
    public static let automatic = XMLPlacement(.automatic)
    /// A child element, or several: an array is one element after another of the same name.
    public static let child = XMLPlacement(.child)
    /// An attribute. An array is words with white space between them.
    public static let attribute = XMLPlacement(.attribute)
    /// The element's own text, without that of the elements in it.
    public static let text = XMLPlacement(.text)

    /// A child element of a namespace.
    ///
    /// - Parameter namespace: The namespace's name, which is a URI; "" for none.
    public static func child(namespace: String) -> XMLPlacement { XMLPlacement(.child, namespace: namespace) }

    /// An attribute of a namespace.
    ///
    /// - Parameter namespace: The namespace's name, which is a URI; "" for none.
    public static func attribute(namespace: String) -> XMLPlacement { XMLPlacement(.attribute, namespace: namespace) }

    /// A child element that holds nothing but an array's elements: `<items><item/><item/></items>`.
    ///
    /// - Parameters:
    ///   - item: The name of the elements when they are written; with nil the encoder's
    ///     ``XMLEncoder/itemName`` serves. Elements of any name are read.
    ///   - namespace: The name of the namespace; "" for none, nil for any.
    public static func wrapped(item: String? = nil, namespace: String? = nil) -> XMLPlacement {
        XMLPlacement(.wrapped(item: item), namespace: namespace)
    }
}

/// How a decoder or an encoder finds out where the value of a key stands.
///
/// A property wrapper, such as ``XMLAttribute``, and keys that are an ``XMLCodingKey`` go before it.
public enum XMLPlacementStrategy: Sendable {
    /// Every key is ``XMLPlacement/automatic``.
    case automatic
    /// By the key's name, at any depth; keys that are not listed are ``XMLPlacement/automatic``.
    case byName([String: XMLPlacement])
    /// As a closure says for the path of keys that ends with the key asked about.
    @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> XMLPlacement)

    /// Where the value of a key stands; nil where this strategy does not say.
    func placement(of key: any CodingKey, in codingPath: @autoclosure () -> [any CodingKey]) -> XMLPlacement? {
        switch self {
        case .automatic: nil
        case .byName(let placements): placements[key.stringValue]
        case .custom(let placement): placement(codingPath() + [key])
        }
    }
}

// MARK: - Keys

/// Keys that say where in an element their values stand.
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
    /// Where the value stands.
    var placement: XMLPlacement { get }
}

/// A key that is text, or a place in a list.
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

/// An enum whose cases are elements: the name of an element tells the case.
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
/// A `Chapter` is read from `<chapter><p/>…<image/>…<p/></chapter>`: the blocks are children of the chapter, and keep
/// their order. Elements that are no case are passed over, for they belong to other keys; the name of the property,
/// `blocks`, is not looked for. A case named `#text` stands for pieces of text between the elements, if they are more than
/// white space.
///
/// An enum that is not marked so is read from an element that holds the one of its case:
/// `<block><image/></block>`.
public protocol XMLChoice {}

// MARK: - Property wrappers

/// A property wrapper that says where its value stands.
protocol XMLPlaced {
    static var placement: XMLPlacement { get }
}

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
