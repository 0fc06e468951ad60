import AfarCore
public import Foundation

/// Writes `Encodable` values as XML, so that an ``XMLDecoder`` with the same settings reads them.
///
/// By default:
/// - A key is a child element. ``XMLAttribute``, ``XMLChild``, ``XMLText``, ``XMLWrapped``, ``XMLCodingKey`` and
///   ``placementStrategy`` say where a value stands else. The key `#text` is the element's own text.
/// - An array is an element of its name for each of its elements, and nothing where it is empty. The array at the top, or
///   inside of another, is an element that holds elements called ``itemName``.
/// - What is nil leaves no trace, but in arrays: there it is an element with `xsi:nil="true"`.
/// - An enum with associated values is an element that holds the element of its case; see ``XMLChoice``.
/// - What a superclass writes by `superEncoder()` stands in the same element as the fields of the subclass.
///
/// The document is in UTF-8, and has a declaration that says so. Its elements stand in the order in which the values are
/// encoded. Numbers, booleans and dates have the forms of XML Schema.
public struct XMLEncoder: Sendable {
    /// The name of the outermost element. The default, nil, is the name of the value's type, or `root` where that is no name
    /// in XML, such as a dictionary's. The element of an ``XMLChoice`` bears the name of its case.
    public var rootName: String?
    /// The namespace of the outermost element: a URI. The default, nil, is the default namespace, if there is one.
    public var rootNamespace: String?
    /// The namespaces that the outermost element declares: URIs by prefixes. "" is the default namespace, of elements that
    /// have no other.
    public var namespaces: [String: String]
    /// How keys become names. The default is as they are.
    public var keyEncodingStrategy: KeyEncodingStrategy
    /// How dates are written. The default is ``DateEncodingStrategy/iso8601``.
    public var dateEncodingStrategy: DateEncodingStrategy
    /// How bytes are written. The default is ``DataEncodingStrategy/base64``.
    public var dataEncodingStrategy: DataEncodingStrategy
    /// How nil is written. The default is not at all.
    public var nilEncodingStrategy: NilEncodingStrategy
    /// Where the values of keys stand that don't say so themselves. The default is ``XMLPlacement/automatic``.
    public var placementStrategy: XMLPlacementStrategy
    /// The name of an array's elements where no key gives one. The default is `item`.
    public var itemName: String
    /// How the document is laid out.
    public var outputFormatting: OutputFormatting
    /// What the values that are encoded find in their encoder's `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Makes an encoder.
    public init(
        rootName: String? = nil,
        rootNamespace: String? = nil,
        namespaces: [String: String] = [:],
        keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys,
        dateEncodingStrategy: DateEncodingStrategy = .iso8601,
        dataEncodingStrategy: DataEncodingStrategy = .base64,
        nilEncodingStrategy: NilEncodingStrategy = .omit,
        placementStrategy: XMLPlacementStrategy = .automatic,
        itemName: String = "item",
        outputFormatting: OutputFormatting = [],
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.rootName = rootName
        self.rootNamespace = rootNamespace
        self.namespaces = namespaces
        self.keyEncodingStrategy = keyEncodingStrategy
        self.dateEncodingStrategy = dateEncodingStrategy
        self.dataEncodingStrategy = dataEncodingStrategy
        self.nilEncodingStrategy = nilEncodingStrategy
        self.placementStrategy = placementStrategy
        self.itemName = itemName
        self.outputFormatting = outputFormatting
        self.userInfo = userInfo
    }

    /// The value as a document in UTF-8.
    ///
    /// - Throws: `EncodingError.invalidValue` for a name that is none in XML, a character that XML 1.0 cannot carry, an
    ///   attribute that is no text, or values nested more than 256 levels deep; what the value or a strategy's closure
    ///   throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        Data(try bytes(of: value))
    }

    /// The value as a document.
    ///
    /// - Throws: As ``encode(_:)`` does.
    public func encodeToString<Value: Encodable>(_ value: Value) throws -> String {
        String(decoding: try bytes(of: value), as: UTF8.self)
    }

    private func bytes<Value: Encodable>(of value: Value) throws -> [UInt8] {
        let encoding = try Encoding(self)
        let root = try encoding.root(of: value)
        var writer = OutputWriter(outputFormatting)
        writer.write(root, declaring: encoding.namespaces.declarations)
        return writer.bytes
    }
}

// MARK: - Strategies

extension XMLEncoder {
    /// How keys become the names of elements and attributes.
    ///
    /// The keys of dictionaries are names as they are, unless a closure changes them.
    public enum KeyEncodingStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// In words joined by `_`: `feedURL` becomes `feed_url`.
        case convertToSnakeCase
        /// In words joined by `-`: `feedURL` becomes `feed-url`.
        case convertToKebabCase
        /// As a closure says for the path of keys that ends with the key asked about.
        @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)

        func name(of key: any CodingKey, in codingPath: [any CodingKey]) -> String {
            let text = key.stringValue
            if text == Place.textKey { return text }
            return switch self {
            case .useDefaultKeys: text
            case .convertToSnakeCase: text.lowercasedWords(joinedBy: "_")
            case .convertToKebabCase: text.lowercasedWords(joinedBy: "-")
            case .custom(let convert): convert(codingPath + [key]).stringValue
            }
        }
    }

    /// How dates are written.
    public enum DateEncodingStrategy: Sendable {
        /// As `Date` encodes itself: the seconds since 2001.
        case deferredToDate
        /// As the seconds since 1970.
        case secondsSince1970
        /// As the milliseconds since 1970.
        case millisecondsSince1970
        /// As XML Schema's `dateTime` in UTC, `2024-05-06T07:08:09.5Z`, with up to nine digits after the second.
        case iso8601
        /// As a formatter writes them.
        case formatted(DateFormatter)
        /// As a closure writes them.
        @preconcurrency case custom(@Sendable (_ date: Date, _ encoder: any Encoder) throws -> Void)
    }

    /// How bytes are written.
    public enum DataEncodingStrategy: Sendable {
        /// As `Data` encodes itself: each byte is an element with a number.
        case deferredToData
        /// In base64.
        case base64
        /// In two hexadecimal digits a byte.
        case hexadecimal
        /// As a closure writes them.
        @preconcurrency case custom(@Sendable (_ data: Data, _ encoder: any Encoder) throws -> Void)
    }

    /// How nil is written. In an attribute it is never written.
    public enum NilEncodingStrategy: Sendable {
        /// Not at all.
        case omit
        /// As an element with `xsi:nil="true"`.
        case xsiNil
    }

    /// How a document is laid out.
    public struct OutputFormatting: OptionSet, Hashable, Sendable {
        /// Which options are in here, in bits.
        public let rawValue: Int

        /// Makes options of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Each element on a line of its own, indented by two spaces. An element that has text in it is left as it is, since
        /// its white space may mean something.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Children, and attributes, sorted by their names. Those of one name keep their order, and an element that has
        /// text in it is left as it is.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
        /// No `<?xml version="1.0" encoding="UTF-8"?>` before the document.
        public static let withoutDeclaration = OutputFormatting(rawValue: 4)
    }
}

extension String {
    /// The words of a camel-case name in lower case, joined by a separator. A run of capitals is one word, but a capital before a
    /// lowercase letter starts the next one: `myURLLoader` has the words my, url and loader.
    func lowercasedWords(joinedBy separator: String) -> String {
        let letters = Array(self)
        return letters.indices.reduce(into: "") { result, index in
            if index > 0, letters[index].isUppercase {
                let nextIsLowercase = index + 1 < letters.count && letters[index + 1].isLowercase
                if !letters[index - 1].isUppercase || nextIsLowercase { result += separator }
            }
            result += letters[index].lowercased()
        }
    }
}
