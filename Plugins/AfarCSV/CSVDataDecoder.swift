public import AfarCore
public import AfarSerializers
public import Foundation
import HTTPTypes

/// Decodes rows from CSV (RFC 4180), wherever Afar takes a ``DataDecoder``: `responseDecodable(of: [User].self, decoder:
/// CSVDataDecoder())`.
///
/// What is decoded is a sequence of rows, and a row is
/// - a type with keys: they are the names of the columns, to the letter unless ``keyDecodingStrategy`` says otherwise;
///   without names, the columns' numbers from 0;
/// - a dictionary, of `String` or whatever the fields are, by the same names;
/// - an array: the fields in their order;
/// - a single value, where there is one column.
///
/// Fields become values so: numbers in decimal digits, also `1e3`, with ``CSVFormat/decimalSeparator``, `Decimal` with all
/// its digits; `Bool` from `true`, `yes` and `1`, `false`, `no` and `0`, whatever their case; `Data` from base64; `URL`, and
/// dates as ``dateDecodingStrategy`` says. Nothing can be nested in a field.
public struct CSVDataDecoder: DataDecoder {
    /// How rows are written.
    public var format: CSVFormat
    /// What may be read.
    public var limits: CSVLimits
    /// The encoding, whatever the response says. The default is nil: what a byte-order mark says, else the `charset` of the
    /// response's Content-Type, else UTF-8. Bytes that mean nothing in the encoding are an error of their row.
    public var encoding: TextEncoding?
    /// How the names of columns become keys. The default is as they are.
    public var keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys
    /// Which fields are nil. The default is the empty ones.
    public var nilDecodingStrategy: NilDecodingStrategy = .emptyField
    /// How dates are written. The default is ISO 8601.
    public var dateDecodingStrategy: DateDecodingStrategy = .iso8601
    /// What the types that are decoded can find in their decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - format: How rows are written. The default is RFC 4180, with the names of columns in the first row.
    ///   - limits: What may be read.
    ///   - encoding: The encoding, whatever the response says. The default is nil: go by the response.
    public init(
        format: CSVFormat = CSVFormat(), limits: CSVLimits = CSVLimits(), encoding: TextEncoding? = nil
    ) {
        self.format = format
        self.limits = limits
        self.encoding = encoding
    }

    /// Decodes rows.
    ///
    /// - Throws: A ``CSVError`` for what is no CSV or beyond the limits, a `DecodingError` for a field that is not what its
    ///   key wants, a `TextDecodingError` for a charset that is unknown.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        try decode(type, from: data, of: nil)
    }

    /// Decodes rows of a response, in the encoding that it tells.
    ///
    /// - Throws: A ``CSVError`` for what is no CSV or beyond the limits, a `DecodingError` for a field that is not what its
    ///   key wants, a `TextDecodingError` for a charset that is unknown.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D {
        var reader = CSVReader(self, contentType: head?.fields[.contentType])
        try reader.append(data)
        return try type.init(from: CSVTableDecoder(reader, self))
    }
}

// MARK: - Strategies

extension CSVDataDecoder {
    /// How the names of columns become keys, also those of dictionaries.
    public enum KeyDecodingStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// From words joined by `_`: `first_name` is the key `firstName`. Underscores at the ends stay.
        case convertFromSnakeCase
        /// As a closure says for a name.
        @preconcurrency case custom(@Sendable (_ name: String) -> String)

        func key(of name: String) -> String {
            switch self {
            case .useDefaultKeys: name
            case .convertFromSnakeCase: Self.camelCased(name)
            case .custom(let convert): convert(name)
            }
        }

        private static func camelCased(_ name: String) -> String {
            let words = name.split(separator: "_")
            guard words.count > 1 else { return name }
            let ends = (name.prefix { $0 == "_" }, name.reversed().prefix { $0 == "_" })
            let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
            return ends.0 + words[0].lowercased() + rest.joined() + String(ends.1)
        }
    }

    /// Which fields are nil.
    public enum NilDecodingStrategy: Sendable, Hashable {
        /// Those with nothing in them.
        case emptyField
        /// Those with nothing in them and no quotation marks around them: `""` is an empty text.
        case emptyUnquotedField
        /// Those that are one of these texts, to the letter: `NULL`, `NA`, `-`.
        case anyOf(Set<String>)
    }

    /// How dates are written.
    public enum DateDecodingStrategy: Sendable {
        /// As ISO 8601 has it: `2024-05-06T07:08:09Z`, with or without a fraction of the second, or `2024-05-06` for the
        /// beginning of a day in UTC.
        case iso8601
        /// As the seconds since 1970.
        case secondsSince1970
        /// As the milliseconds since 1970.
        case millisecondsSince1970
        /// As a formatter reads them.
        case formatted(DateFormatter)
        /// As a closure reads a field's text.
        @preconcurrency case custom(@Sendable (_ text: String) throws -> Date)
    }
}
