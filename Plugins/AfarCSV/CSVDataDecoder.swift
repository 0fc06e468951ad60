public import AfarCore
public import AfarSerializers
public import Foundation
import HTTPTypes

/// A type that decodes rows from CSV (RFC 4180). Use it wherever Afar accepts a ``DataDecoder``:
/// `responseDecodable(of: [User].self, decoder: CSVDataDecoder())`.
///
/// The decoded value is a sequence of rows. Each row is one of the following:
/// - A type with coding keys, such as a struct. The keys are the exact names of the columns unless ``keyDecodingStrategy``
///   converts them. If the columns have no names, the keys are the columns' numbers, starting from 0.
/// - A dictionary whose keys follow the same rules. The values are `String` or another type that a field can have.
/// - An array of the fields in order.
/// - A single value, if the table has one column.
///
/// Fields are decoded as follows:
/// - Numbers have decimal digits, an optional exponent (`1e3`) and ``CSVFormat/decimalSeparator``. `Decimal` keeps all digits.
/// - A `Bool` is `true`, `yes`, `1`, `false`, `no` or `0`, in upper or lower case.
/// - `Data` is base64.
/// - `URL` is the URL's text.
/// - `Date` has the format of ``dateDecodingStrategy``.
///
/// Fields can't contain nested values.
public struct CSVDataDecoder: DataDecoder {
    /// The format of the rows.
    public var format: CSVFormat
    /// The limits on the input.
    public var limits: CSVLimits
    /// The encoding of the rows, which overrides the response's. If it's nil (the default), a byte-order mark or the `charset`
    /// in the response's Content-Type determines the encoding. Without either, the encoding is UTF-8. Decoding a field fails if
    /// its bytes are invalid in the encoding.
    public var encoding: TextEncoding?
    /// The strategy that converts column names to keys. By default, names are used unchanged.
    public var keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys
    /// The strategy that determines which fields are nil. By default, empty fields are nil.
    public var nilDecodingStrategy: NilDecodingStrategy = .emptyField
    /// The format of dates. The default is ISO 8601.
    public var dateDecodingStrategy: DateDecodingStrategy = .iso8601
    /// The contextual information that decoded types can read from their decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - format: The format of the rows. The default is RFC 4180, with column names in the first row.
    ///   - limits: The limits on the input.
    ///   - encoding: The encoding, which overrides the response's. The default is nil, which uses the response's encoding.
    public init(
        format: CSVFormat = CSVFormat(), limits: CSVLimits = CSVLimits(), encoding: TextEncoding? = nil
    ) {
        self.format = format
        self.limits = limits
        self.encoding = encoding
    }

    /// Decodes rows.
    ///
    /// - Throws: A ``CSVError`` if the data isn't valid CSV or exceeds a limit. A `DecodingError` if a field doesn't have the
    ///   expected type. A `TextDecodingError` if the charset is unknown.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
        try decode(type, from: data, of: nil)
    }

    /// Decodes rows of a response, in the response's encoding.
    ///
    /// - Throws: A ``CSVError`` if the data isn't valid CSV or exceeds a limit. A `DecodingError` if a field doesn't have the
    ///   expected type. A `TextDecodingError` if the charset is unknown.
    public func decode<D: Decodable>(_ type: D.Type, from data: Data, of head: ResponseHead?) throws -> D {
        var reader = CSVReader(self, contentType: head?.fields[.contentType])
        try reader.append(data)
        return try type.init(from: CSVTableDecoder(reader, self))
    }
}

extension CSVDataDecoder {
    /// A strategy that converts column names to keys, including the keys of dictionaries.
    public enum KeyDecodingStrategy: Sendable {
        /// Uses names unchanged.
        case useDefaultKeys
        /// Converts names from snake case: `first_name` becomes `firstName`. Leading and trailing underscores are preserved.
        case convertFromSnakeCase
        /// Converts each name with a closure.
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

    /// A strategy that determines which fields are nil.
    public enum NilDecodingStrategy: Sendable, Hashable {
        /// Empty fields.
        case emptyField
        /// Empty fields without quotation marks. `""` is an empty string.
        case emptyUnquotedField
        /// Fields that exactly match one of these strings, such as `NULL`, `NA` or `-`.
        case anyOf(Set<String>)
    }

    /// A format of dates.
    public enum DateDecodingStrategy: Sendable {
        /// ISO 8601: `2024-05-06T07:08:09Z`, with or without fractional seconds, or `2024-05-06` for the start of a day in UTC.
        case iso8601
        /// The seconds since 1970.
        case secondsSince1970
        /// The milliseconds since 1970.
        case millisecondsSince1970
        /// The format of a date formatter.
        case formatted(DateFormatter)
        /// A closure that parses a field's text.
        @preconcurrency case custom(@Sendable (_ text: String) throws -> Date)
    }
}
