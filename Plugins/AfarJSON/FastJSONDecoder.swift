public import AfarCore
import AfarSerializers
public import Foundation

/// Decodes values from JSON, several times as fast as a `JSONDecoder`, wherever Afar takes a ``AfarCore/DataDecoder``:
/// `responseDecodable(of: User.self, decoder: .fastJSON)`.
///
/// The values are those of a `JSONDecoder` with the same strategies. It is stricter about the text, which has to be JSON to
/// the letter (RFC 8259): no commas after the last element, no half surrogate pairs in strings. Its errors tell the line
/// and the column, and integers and decimals are exact or refused.
///
/// A document may have 2 GiB less a byte, and arrays and objects 512 deep. While it is decoded, memory of up to 14 times its size is
/// in use; of usual documents twice to three times.
public struct FastJSONDecoder: DataDecoder {
    /// Which names members have in Swift. The default is the same as in the document.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy
    /// How a `Date` is written. The default is the date's own way, seconds since 2001.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy
    /// How a `Data` is written. The default is Base64.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy
    /// Whether infinities and NaN, which JSON has no numbers for, are written as strings. The default is that they are not.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy
    /// What an object means in which a name stands twice. The default is the first of them, as for a `JSONDecoder`.
    public var duplicateKeyStrategy: DuplicateKeyStrategy
    /// What types that decode themselves find in their decoder's `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - keyDecodingStrategy: Which names members have in Swift. The default is the same as in the document.
    ///   - dateDecodingStrategy: How a `Date` is written. The default is the date's own way, seconds since 2001.
    ///   - dataDecodingStrategy: How a `Data` is written. The default is Base64.
    ///   - nonConformingFloatDecodingStrategy: Whether infinities and NaN are written as strings. The default is that they
    ///     are not.
    ///   - duplicateKeyStrategy: What an object means in which a name stands twice. The default is the first.
    ///   - userInfo: What types that decode themselves find in their decoder. The default is nothing.
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

    /// Decodes a value from a text in UTF-8, or in another of Unicode's encodings as `JSONDecoder` takes them.
    ///
    /// - Throws: A `DecodingError`, with a ``JSONLocation`` as its `underlyingError`; for what is no JSON `dataCorrupted` with an
    ///   ``AfarSerializers/InvalidJSON`` or an ``AfarSerializers/TextDecodingError``.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        let document = try JSONDocument.open(data, options: self)
        defer { document.close() }
        return try document.root.decode(type)
    }
}

extension FastJSONDecoder {
    /// What an object means in which a name stands twice, which JSON leaves open (RFC 8259, section 4).
    public enum DuplicateKeyStrategy: Hashable, Sendable {
        /// The first member with the name counts.
        case useFirst
        /// The last member with the name counts.
        case useLast
        /// The object is refused when a value is decoded from it: `DecodingError.dataCorrupted`.
        case refuse
    }
}

extension DataDecoder where Self == FastJSONDecoder {
    /// Decodes JSON, several times as fast as a `JSONDecoder`.
    public static var fastJSON: FastJSONDecoder { FastJSONDecoder() }

    /// Decodes JSON, several times as fast as a `JSONDecoder`.
    ///
    /// - Parameters:
    ///   - keyDecodingStrategy: Which names members have in Swift. The default is the same as in the document.
    ///   - dateDecodingStrategy: How a `Date` is written. The default is the date's own way, seconds since 2001.
    public static func fastJSON(
        keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
        dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate
    ) -> FastJSONDecoder {
        FastJSONDecoder(keyDecodingStrategy: keyDecodingStrategy, dateDecodingStrategy: dateDecodingStrategy)
    }
}
