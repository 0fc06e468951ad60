public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An encoder that writes an array of `Encodable` rows as a CSV body (RFC 4180), which ``CSVDataDecoder`` can decode.
///
/// A row is an array, a single value, or a value with keys. The keys are the column names. Fields are quoted if necessary. Nil is
/// an empty field, and an empty string is `""`. Rows end with CR LF.
public struct CSVParameterEncoder: ParameterEncoder {
    /// The format of the rows. If ``CSVFormat/header`` is ``CSVFormat/Header/firstRow``, a header is written.
    public var format: CSVFormat
    /// The names of the columns in order, after conversion by ``keyEncodingStrategy``. Names must be unique. The default is nil, which
    /// uses the keys of all rows in the order in which they are encoded. A dictionary's keys are sorted.
    public var columns: [String]?
    /// The strategy that converts keys to column names. By default, keys are used unchanged.
    public var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys
    /// The format of dates. The default is ISO 8601.
    public var dateEncodingStrategy: DateEncodingStrategy = .iso8601

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - format: The format of the rows. The default is RFC 4180, with a header.
    ///   - columns: The columns in order. The default is nil, which uses the keys of all rows in the order in which they are
    ///     encoded. A dictionary's keys are sorted.
    public init(format: CSVFormat = CSVFormat(), columns: [String]? = nil) {
        self.format = format
        self.columns = columns
    }

    /// Returns the request with the rows as its body. Sets the content type `text/csv; charset=utf-8` (RFC 7111) unless the request
    /// has one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed`. It contains a ``CSVEncodingError`` if the parameters aren't a table, a ``CSVError``
    ///   if the format is invalid, or an error that the rows throw.
    public func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            request.httpBody = try CSVTableEncoder.encode(parameters, self)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        if request.headers["Content-Type"] == nil {
            request.headers.update(.contentType("text/csv; charset=utf-8"))
        }
        return request
    }
}

// MARK: - Strategies

extension CSVParameterEncoder {
    /// A strategy that converts keys to column names.
    public enum KeyEncodingStrategy: Sendable {
        /// Uses keys unchanged.
        case useDefaultKeys
        /// Converts keys to snake case: `firstName` becomes `first_name`, and `feedURL` becomes `feed_url`.
        case convertToSnakeCase
        /// Converts each key with a closure.
        @preconcurrency case custom(@Sendable (_ key: String) -> String)

        func name(of key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.snakeCased(key)
            case .custom(let convert): convert(key)
            }
        }

        /// Treats consecutive capitals as one word. If a lowercase letter follows, the last capital begins a new word.
        private static func snakeCased(_ key: String) -> String {
            var name = ""
            var previous: Character?
            for index in key.indices {
                let letter = key[index]
                if letter.isUppercase, let previous {
                    let next = key[index...].dropFirst().first
                    if !previous.isUppercase || next?.isLowercase == true { name += "_" }
                }
                name += letter.lowercased()
                previous = letter
            }
            return name
        }
    }

    /// A format of dates.
    public enum DateEncodingStrategy: Sendable {
        /// ISO 8601 in UTC: `2024-05-06T07:08:09Z`, with milliseconds if they aren't zero.
        case iso8601
        /// The seconds since 1970.
        case secondsSince1970
        /// The milliseconds since 1970.
        case millisecondsSince1970
        /// The format of a date formatter.
        case formatted(DateFormatter)
        /// A closure that returns a date's text.
        @preconcurrency case custom(@Sendable (_ date: Date) throws -> String)
    }
}

// MARK: - Texts of values

extension CSVParameterEncoder {
    /// Returns the text of a string, a number, a date or another simple value. Returns nil for other types, which must encode
    /// themselves.
    ///
    /// - Parameter error: A closure that creates the error for a value that can't be written.
    func text<T: Encodable>(
        of value: T, _ error: (CSVEncodingError.Reason) -> CSVEncodingError
    ) throws -> String? {
        switch value {
        case let value as String: return value
        case let value as Bool: return value ? "true" : "false"
        case let value as any FixedWidthInteger: return "\(value)"
        case let value as Double: return try number(value, value.isFinite, error)
        case let value as Float: return try number(value, value.isFinite, error)
        case let value as Decimal: return try number(value, value.isFinite, error)
        case let value as Date: return try date(value, error)
        case let value as Data: return value.base64EncodedString()
        case let value as URL: return value.absoluteString
        default: return nil
        }
    }

    private func number(
        _ value: some CustomStringConvertible, _ isFinite: Bool,
        _ error: (CSVEncodingError.Reason) -> CSVEncodingError
    ) throws -> String {
        guard isFinite else { throw error(.nonFiniteNumber) }
        guard format.decimalSeparator != "." else { return value.description }
        return value.description.replacing(".", with: String(format.decimalSeparator))
    }

    private func date(
        _ value: Date, _ error: (CSVEncodingError.Reason) -> CSVEncodingError
    ) throws -> String {
        let seconds = value.timeIntervalSince1970
        switch dateEncodingStrategy {
        case .secondsSince1970: return try number(seconds, seconds.isFinite, error)
        case .millisecondsSince1970: return try number(seconds * 1_000, (seconds * 1_000).isFinite, error)
        case .iso8601:
            // ISO 8601 has four-digit years: 0001 to 9999.
            guard (-62_135_596_800..<253_402_300_800).contains(seconds) else { throw error(.dateOutOfRange) }
            let hasFraction = seconds != seconds.rounded(.down)
            return Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).format(value)
        case .formatted(let formatter): return formatter.string(from: value)
        case .custom(let write): return try write(value)
        }
    }
}

// MARK: - Short forms

extension ParameterEncoder where Self == CSVParameterEncoder {
    /// An encoder that writes CSV bodies.
    public static var csv: CSVParameterEncoder { CSVParameterEncoder() }

    /// Returns an encoder that writes CSV bodies.
    ///
    /// - Parameters:
    ///   - format: The format of the rows. The default is RFC 4180, with a header.
    ///   - columns: The columns in order. The default is nil, which uses the keys of all rows in the order in which they are
    ///     encoded. A dictionary's keys are sorted.
    public static func csv(format: CSVFormat = CSVFormat(), columns: [String]? = nil) -> CSVParameterEncoder {
        CSVParameterEncoder(format: format, columns: columns)
    }
}
