import AfarSerializers
public import Foundation

/// A decoder that decodes `Decodable` values from XML, directly from the parser's tree.
///
/// By default:
///
/// - A key is the local name of a child element or, if there is no such child, of an attribute. Prefixes are ignored.
///   Among children with the same name, a child in its parent's namespace takes precedence. ``XMLAttribute``,
///   ``XMLChild``, ``XMLText``, ``XMLWrapped``, ``XMLCodingKey`` and ``placementStrategy`` specify other placements.
/// - An array consists of all children with its name, even if other children are between them. If there are no such
///   children, the array is empty. A top-level or nested array consists of all children of its element, regardless of
///   their names.
/// - A value is nil if its element is missing or has `xsi:nil="true"`. `<x/>` is empty text.
/// - The key `#text` is an element's own text. A `String` is all text in an element, including the text of nested
///   elements and CDATA sections, but not comments. White space is preserved in strings and trimmed from other values.
/// - An enum with associated values is an element that contains the element of its case. See ``XMLChoice``.
/// - The values that a superclass decodes with `superDecoder()` are in the same element as those of the subclass.
///
/// Numbers, Boolean values and dates have the formats of XML Schema.
public struct XMLDecoder: Sendable {
    /// The conversion of names to keys. The default is ``KeyDecodingStrategy/useDefaultKeys``.
    public var keyDecodingStrategy: KeyDecodingStrategy
    /// The format of dates. The default is ``DateDecodingStrategy/iso8601``.
    public var dateDecodingStrategy: DateDecodingStrategy
    /// The format of bytes. The default is ``DataDecodingStrategy/base64``.
    public var dataDecodingStrategy: DataDecodingStrategy
    /// The placement of values if their keys don't specify a placement. The default is ``XMLPlacement/automatic``.
    public var placementStrategy: XMLPlacementStrategy
    /// The required local name of the outermost element. The default, `nil`, accepts any name.
    public var rootName: String?
    /// The options for parsing documents, if they are decoded from data.
    public var parsingOptions: XML.ParsingOptions
    /// The `userInfo` of the decoder that is passed to each value.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates a decoder.
    public init(
        keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys,
        dateDecodingStrategy: DateDecodingStrategy = .iso8601,
        dataDecodingStrategy: DataDecodingStrategy = .base64,
        placementStrategy: XMLPlacementStrategy = .automatic,
        rootName: String? = nil,
        parsingOptions: XML.ParsingOptions = XML.ParsingOptions(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.keyDecodingStrategy = keyDecodingStrategy
        self.dateDecodingStrategy = dateDecodingStrategy
        self.dataDecodingStrategy = dataDecodingStrategy
        self.placementStrategy = placementStrategy
        self.rootName = rootName
        self.parsingOptions = parsingOptions
        self.userInfo = userInfo
    }

    /// Decodes a value from a document.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - data: The bytes of the document.
    ///   - contentType: The `Content-Type` of the bytes, if any. Its charset overrides the document's own declaration.
    /// - Throws: `DecodingError` with the path and the line, or an error of the value's own initializer. If the
    ///   document isn't well-formed or exceeds a limit, the error is `DecodingError.dataCorrupted` with an underlying
    ///   ``XML/Error``.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data, contentType: String?
    ) throws -> Value {
        let document: XML.Document
        do {
            document = try XML.Document(data, contentType: contentType, options: parsingOptions)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [], debugDescription: "The XML can't be read: \(error)", underlyingError: error))
        }
        return try decode(type, from: document.root)
    }

    /// Decodes a value from a document that declares its encoding or is UTF-8.
    ///
    /// - Throws: The same errors as ``decode(_:from:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decode(type, from: data, contentType: nil)
    }

    /// Decodes a value from a string that contains a document.
    ///
    /// - Throws: The same errors as ``decode(_:from:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        var decoder = self
        decoder.parsingOptions.encoding = .utf8
        return try decoder.decode(type, from: Data(text.utf8), contentType: nil)
    }

    /// Decodes a value from an element.
    ///
    /// - Throws: `DecodingError` with the path and the line, or the errors of the value's own initializer.
    public func decode<Value: Decodable>(_ type: Value.Type, from element: XML.Element) throws -> Value {
        let decoding = Decoding(element.document, self)
        let part = NodePart(element.pointer, .item)
        if let rootName, !part.hasName(rootName) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "Expected an element \(rootName), found \(element.localName) \(part.location)."))
        }
        return try decoding.value(type, at: part, inside: nil, key: nil)
    }
}

extension XMLDecoder {
    /// The conversion of element and attribute names to keys.
    ///
    /// The keys of dictionaries aren't converted, except by a closure.
    public enum KeyDecodingStrategy: Sendable {
        /// Uses names as keys.
        case useDefaultKeys
        /// Matches names with words joined by `_`: the key `oneTwo` reads `one_two`, and `feedURL` reads `feed_url`.
        case convertFromSnakeCase
        /// Matches names with words joined by `-`: the key `oneTwo` reads `one-two`, and `feedURL` reads `feed-url`.
        case convertFromKebabCase
        /// Uses the key that a closure returns. The closure receives a coding path whose last key is the local name of
        /// an element or attribute.
        @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }

    /// The format of dates.
    public enum DateDecodingStrategy: Sendable {
        /// The format of `Date` itself: seconds since 2001.
        case deferredToDate
        /// Seconds since 1970.
        case secondsSince1970
        /// Milliseconds since 1970.
        case millisecondsSince1970
        /// The XML Schema types `dateTime` and `date`: `2024-05-06T07:08:09.5+02:00`, `2024-05-06`. Without a time
        /// zone, the date is in UTC.
        case iso8601
        /// The format of a date formatter.
        case formatted(DateFormatter)
        /// The result of a closure.
        @preconcurrency case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// The format of bytes.
    public enum DataDecodingStrategy: Sendable {
        /// The format of `Data` itself: each byte is an element with a number.
        case deferredToData
        /// Base64. White space is allowed anywhere.
        case base64
        /// Two hexadecimal digits per byte.
        case hexadecimal
        /// The result of a closure.
        @preconcurrency case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
    }
}
