public import AfarCore
import AfarSerializers
public import Foundation

/// A type that decodes values from JSON, several times as fast as a `JSONDecoder`. Use it wherever Afar accepts a
/// ``AfarCore/DataDecoder``: `responseDecodable(of: User.self, decoder: .fastJSON)`.
///
/// It decodes the same values as a `JSONDecoder` with the same strategies. The text must strictly conform to RFC 8259, so trailing commas
/// and lone surrogates in strings are errors. Errors contain the line and the column. An integer or decimal that can't be represented
/// exactly is an error.
///
/// A document must be smaller than 2 GiB, with at most 512 levels of nested arrays and objects. Decoding uses up to 14 times the
/// document's size in memory, and two to three times for typical documents.
public struct FastJSONDecoder: DataDecoder {
    /// The strategy that converts member names to keys. By default, names are used unchanged.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy
    /// The format of dates. The default is seconds since 2001, the format in which `Date` encodes itself.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy
    /// The format of `Data` values. The default is Base64.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy
    /// The strings that represent infinity and NaN, which JSON numbers can't express. By default, there are none.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy
    /// The strategy for objects with duplicate names. By default, the first member is used, as with a `JSONDecoder`.
    public var duplicateKeyStrategy: DuplicateKeyStrategy
    /// The contextual information that decoded types can read from their decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - keyDecodingStrategy: The strategy that converts member names to keys. By default, names are used unchanged.
    ///   - dateDecodingStrategy: The format of dates. The default is seconds since 2001, the format in which `Date` encodes
    ///     itself.
    ///   - dataDecodingStrategy: The format of `Data` values. The default is Base64.
    ///   - nonConformingFloatDecodingStrategy: The strings that represent infinity and NaN. By default, there are none.
    ///   - duplicateKeyStrategy: The strategy for objects with duplicate names. By default, the first member is used.
    ///   - userInfo: The contextual information that decoded types can read from their decoder. The default is empty.
    public init(
        keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
        dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate,
        dataDecodingStrategy: JSONDecoder.DataDecodingStrategy = .base64,
        nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy = .throw,
        duplicateKeyStrategy: DuplicateKeyStrategy = .useFirst,
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.keyDecodingStrategy = keyDecodingStrategy
        self.dateDecodingStrategy = dateDecodingStrategy
        self.dataDecodingStrategy = dataDecodingStrategy
        self.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
        self.duplicateKeyStrategy = duplicateKeyStrategy
        self.userInfo = userInfo
    }

    /// Decodes a value from text in UTF-8, or in another Unicode encoding that `JSONDecoder` supports.
    ///
    /// - Throws: A `DecodingError` with a ``JSONLocation`` as its `underlyingError`. For invalid JSON, the error is
    ///   `dataCorrupted` and the `underlyingError` is an ``AfarSerializers/InvalidJSON`` or an
    ///   ``AfarSerializers/TextDecodingError``.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        let document = try JSONDocument.open(data, options: self)
        defer { document.close() }
        return try document.root.decode(type)
    }
}

extension FastJSONDecoder {
    /// A strategy for objects with duplicate names, whose meaning JSON doesn't define (RFC 8259, section 4).
    public enum DuplicateKeyStrategy: Hashable, Sendable {
        /// Uses the first member with the name.
        case useFirst
        /// Uses the last member with the name.
        case useLast
        /// Throws `DecodingError.dataCorrupted` when a value is decoded from the object.
        case reject
    }
}

extension DataDecoder where Self == FastJSONDecoder {
    /// A decoder for JSON that is several times as fast as a `JSONDecoder`.
    public static var fastJSON: FastJSONDecoder { FastJSONDecoder() }

    /// Returns a decoder for JSON that is several times as fast as a `JSONDecoder`.
    ///
    /// - Parameters:
    ///   - keyDecodingStrategy: The strategy that converts member names to keys. By default, names are used unchanged.
    ///   - dateDecodingStrategy: The format of dates. The default is seconds since 2001, the format in which `Date` encodes
    ///     itself.
    public static func fastJSON(
        keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
        dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate
    ) -> FastJSONDecoder {
        FastJSONDecoder(keyDecodingStrategy: keyDecodingStrategy, dateDecodingStrategy: dateDecodingStrategy)
    }
}
