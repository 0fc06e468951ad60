import AfarSerializers
public import Foundation

/// Reads `Decodable` values from XML, straight from the parser's tree.
///
/// By default:
/// - A key is the local name of a child element, or else of an attribute; prefixes don't matter. Where names are the same, a
///   child in the namespace of its parent goes first. ``XMLAttribute``, ``XMLChild``, ``XMLText``, ``XMLWrapped``,
///   ``XMLCodingKey`` and ``placementStrategy`` say where a value stands else.
/// - An array is all children of its name, also with others between them; where there is none, it is empty. The array at the
///   top, or inside of another, is the children of its element, whatever their names.
/// - A value is nil where there is no element, or where it has `xsi:nil="true"`. `<x/>` is empty text.
/// - The key `#text` is an element's own text. A `String` is all text in an element and in the elements in it; comments are
///   left out, CDATA is text. White space belongs to strings, and is trimmed off all other values.
/// - An enum with associated values is an element that holds the element of its case; see ``XMLChoice``.
/// - What a superclass decodes by `superDecoder()` stands in the same element as the fields of the subclass.
///
/// Numbers, booleans and dates have the forms of XML Schema.
public struct XMLDecoder: Sendable {
    /// How names become keys. The default is as they are.
    public var keyDecodingStrategy: KeyDecodingStrategy
    /// How dates are written. The default is ``DateDecodingStrategy/iso8601``.
    public var dateDecodingStrategy: DateDecodingStrategy
    /// How bytes are written. The default is ``DataDecodingStrategy/base64``.
    public var dataDecodingStrategy: DataDecodingStrategy
    /// Where the values of keys stand that don't say so themselves. The default is ``XMLPlacement/automatic``.
    public var placementStrategy: XMLPlacementStrategy
    /// The local name that the outermost element must have. The default, nil, is any.
    public var rootName: String?
    /// What a document may be and hold that is decoded from data.
    public var parsingOptions: XML.ParsingOptions
    /// What the values that are decoded find in their decoder's `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Makes a decoder.
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

    /// Reads a value from a document.
    ///
    /// - Parameters:
    ///   - type: What to read.
    ///   - data: The document's bytes.
    ///   - contentType: The Content-Type that they came with, whose charset outranks the document's own declaration;
    ///     nil for none.
    /// - Throws: `DecodingError` with the path and the line of what was wrong; for a document that is not well-formed or
    ///   goes past a limit, `DecodingError.dataCorrupted` with an ``XML/Error`` as its underlying error; what the value's
    ///   own initializer throws.
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

    /// Reads a value from a document that says itself how it is encoded, or is UTF-8.
    ///
    /// - Throws: As ``decode(_:from:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decode(type, from: data, contentType: nil)
    }

    /// Reads a value from a document that is text already.
    ///
    /// - Throws: As ``decode(_:from:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        var decoder = self
        decoder.parsingOptions.encoding = .utf8
        return try decoder.decode(type, from: Data(text.utf8), contentType: nil)
    }

    /// Reads a value from an element.
    ///
    /// - Throws: `DecodingError` with the path and the line of what was wrong; what the value's own initializer throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from element: XML.Element) throws -> Value {
        let decoding = Decoding(element.document, self)
        let place = Place(element.pointer, .item)
        if let rootName, !place.bears(rootName) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "Expected an element \(rootName), found \(element.localName) \(place.location)."))
        }
        return try decoding.value(type, at: place, inside: nil, key: nil)
    }
}

// MARK: - Strategies

extension XMLDecoder {
    /// How the names of elements and attributes become keys.
    ///
    /// The keys of dictionaries are names as they are, unless a closure changes them.
    public enum KeyDecodingStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// From words joined by `_`: the key `oneTwo` reads `one_two`, `feedURL` reads `feed_url`.
        case convertFromSnakeCase
        /// From words joined by `-`: the key `oneTwo` reads `one-two`, `feedURL` reads `feed-url`.
        case convertFromKebabCase
        /// As a closure says for the path of keys that ends with the local name of an element or attribute.
        @preconcurrency case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }

    /// How dates are written.
    public enum DateDecodingStrategy: Sendable {
        /// As `Date` decodes itself: the seconds since 2001.
        case deferredToDate
        /// As the seconds since 1970.
        case secondsSince1970
        /// As the milliseconds since 1970.
        case millisecondsSince1970
        /// As XML Schema's `dateTime` or `date`: `2024-05-06T07:08:09.5+02:00`, `2024-05-06`. Without a time zone, a date
        /// is in UTC.
        case iso8601
        /// As a formatter reads them.
        case formatted(DateFormatter)
        /// As a closure reads them.
        @preconcurrency case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// How bytes are written.
    public enum DataDecodingStrategy: Sendable {
        /// As `Data` decodes itself: each byte is an element with a number.
        case deferredToData
        /// In base64, with white space anywhere.
        case base64
        /// In two hexadecimal digits a byte.
        case hexadecimal
        /// As a closure reads them.
        @preconcurrency case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
    }
}
