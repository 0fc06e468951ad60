import AfarCore
public import Foundation

/// An encoder that encodes `Encodable` values as XML. An ``XMLDecoder`` with the same settings can decode them.
///
/// By default:
///
/// - A key is a child element. ``XMLAttribute``, ``XMLChild``, ``XMLText``, ``XMLWrapped``, ``XMLCodingKey`` and
///   ``placementStrategy`` specify other placements. The key `#text` is the element's own text.
/// - Each element of an array is written as an XML element with the array's name. An empty array is omitted. A top-level or
///   nested array is an XML element that contains elements with the name ``itemName``.
/// - A nil value is omitted. In arrays, a nil value is an element with `xsi:nil="true"`.
/// - An enum with associated values is an element that contains the element of its case. See ``XMLChoice``.
/// - The values that a superclass encodes with `superEncoder()` are in the same element as those of the subclass.
///
/// The document is encoded in UTF-8 and declares that encoding. Elements are in the order in which values are encoded.
/// Numbers, Boolean values and dates have the formats of XML Schema.
public struct XMLEncoder: Sendable {
    /// The name of the outermost element. The default, `nil`, uses the name of the value's type. If the type's name isn't a
    /// valid XML name, as for a dictionary, the element's name is `root`. An ``XMLChoice`` uses the name of its case.
    public var rootName: String?
    /// The namespace URI of the outermost element. The default, `nil`, uses the default namespace, if any.
    public var rootNamespace: String?
    /// The namespaces to declare on the outermost element, as URIs by prefix. An empty prefix declares the default
    /// namespace, which applies to elements without another namespace.
    public var namespaces: [String: String]
    /// The conversion of keys to names. The default is ``KeyEncodingStrategy/useDefaultKeys``.
    public var keyEncodingStrategy: KeyEncodingStrategy
    /// The format of dates. The default is ``DateEncodingStrategy/iso8601``.
    public var dateEncodingStrategy: DateEncodingStrategy
    /// The format of bytes. The default is ``DataEncodingStrategy/base64``.
    public var dataEncodingStrategy: DataEncodingStrategy
    /// The handling of nil. The default is ``NilEncodingStrategy/omit``.
    public var nilEncodingStrategy: NilEncodingStrategy
    /// The placement of values if their keys don't specify a placement. The default is ``XMLPlacement/automatic``.
    public var placementStrategy: XMLPlacementStrategy
    /// The name of an array's elements if no key specifies a name. The default is `item`.
    public var itemName: String
    /// The layout of the document.
    public var outputFormatting: OutputFormatting
    /// The `userInfo` of the encoder that is passed to each value.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates an encoder.
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

    /// Returns the value as a UTF-8 document.
    ///
    /// - Throws: `EncodingError.invalidValue` if a name or a character isn't valid in XML 1.0, an attribute's value isn't
    ///   text, or elements are nested more than 256 levels deep. Also throws the errors of the value and of a strategy's
    ///   closure.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        Data(try bytes(of: value))
    }

    /// Returns the value as a string that contains a document.
    ///
    /// - Throws: The same errors as ``encode(_:)``.
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

extension XMLEncoder {
    /// The conversion of keys to element and attribute names.
    ///
    /// The keys of dictionaries aren't converted, except by a closure.
    public enum KeyEncodingStrategy: Sendable {
        /// Uses keys as names.
        case useDefaultKeys
        /// Converts keys to words joined by `_`: `feedURL` becomes `feed_url`.
        case convertToSnakeCase
        /// Converts keys to words joined by `-`: `feedURL` becomes `feed-url`.
        case convertToKebabCase
        /// Uses the name that a closure returns for a coding path that ends with the key.
        @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)

        func name(of key: any CodingKey, in codingPath: [any CodingKey]) -> String {
            let text = key.stringValue
            if text == NodePart.textKey { return text }
            return switch self {
            case .useDefaultKeys: text
            case .convertToSnakeCase: text.lowercasedWords(joinedBy: "_")
            case .convertToKebabCase: text.lowercasedWords(joinedBy: "-")
            case .custom(let convert): convert(codingPath + [key]).stringValue
            }
        }
    }

    /// The format of dates.
    public enum DateEncodingStrategy: Sendable {
        /// The format of `Date` itself: seconds since 2001.
        case deferredToDate
        /// Seconds since 1970.
        case secondsSince1970
        /// Milliseconds since 1970.
        case millisecondsSince1970
        /// The XML Schema type `dateTime` in UTC, `2024-05-06T07:08:09.5Z`, with up to nine fractional digits.
        case iso8601
        /// The format of a date formatter.
        case formatted(DateFormatter)
        /// The result of a closure.
        @preconcurrency case custom(@Sendable (_ date: Date, _ encoder: any Encoder) throws -> Void)
    }

    /// The format of bytes.
    public enum DataEncodingStrategy: Sendable {
        /// The format of `Data` itself: each byte is an element with a number.
        case deferredToData
        /// Base64.
        case base64
        /// Two hexadecimal digits per byte.
        case hexadecimal
        /// The result of a closure.
        @preconcurrency case custom(@Sendable (_ data: Data, _ encoder: any Encoder) throws -> Void)
    }

    /// The handling of nil. In attributes, nil is always omitted.
    public enum NilEncodingStrategy: Sendable {
        /// Omits nil.
        case omit
        /// Writes nil as an element with `xsi:nil="true"`.
        case xsiNil
    }

    /// The layout of a document.
    public struct OutputFormatting: OptionSet, Hashable, Sendable {
        /// The options as bits.
        public let rawValue: Int

        /// Creates options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Writes each element on a separate line, indented by two spaces per level. An element that contains text
        /// isn't changed because its white space can be significant.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Sorts children and attributes by name. Items with the same name keep their order. An element that contains text
        /// isn't changed.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
        /// Omits `<?xml version="1.0" encoding="UTF-8"?>`.
        public static let withoutDeclaration = OutputFormatting(rawValue: 4)
    }
}

extension String {
    /// Returns the words of a camel-case name in lowercase, joined by a separator. A run of capital letters is one word,
    /// but a capital letter before a lowercase letter begins the next word: `myURLLoader` consists of my, url and loader.
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
