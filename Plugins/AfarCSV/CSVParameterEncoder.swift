public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An array of `Encodable` rows as a CSV body (RFC 4180), which ``CSVDataDecoder`` reads again.
///
/// A row is a value with keys, which are the names of the columns, an array, or a single value. Fields are quoted where they
/// need it; nil is an empty field, an empty text is `""`. Rows end with CR LF.
public struct CSVParameterEncoder: ParameterEncoder {
    /// How rows are written. A header is written where ``CSVFormat/header`` has names come from the first row.
    public var format: CSVFormat
    /// The columns and their order, as keys after ``keyEncodingStrategy``. No two are the same. The default is
    /// nil: the keys of all rows, as they come. A dictionary's keys are sorted.
    public var columns: [String]?
    /// How keys become the names of columns. The default is as they are.
    public var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys
    /// How dates are written. The default is ISO 8601.
    public var dateEncodingStrategy: DateEncodingStrategy = .iso8601

    /// Makes an encoder.
    ///
    /// - Parameters:
    ///   - format: How rows are written. The default is RFC 4180, with a header.
    ///   - columns: The columns and their order. The default is nil: the keys of all rows, as they come;
    ///     those of a dictionary are sorted.
    public init(format: CSVFormat = CSVFormat(), columns: [String]? = nil) {
        self.format = format
        self.columns = columns
    }

    /// The request with the rows as its body. The content type `text/csv; charset=utf-8` (RFC 7111) is set unless there is
    /// one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` with a ``CSVEncodingError`` for what is no table, with a ``CSVError`` for a
    ///   format that means nothing, or with what the rows throw.
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
    /// How keys become the names of columns.
    public enum KeyEncodingStrategy: Sendable {
        /// As they are.
        case useDefaultKeys
        /// As words joined by `_`: `firstName` is the column `first_name`, `feedURL` is `feed_url`.
        case convertToSnakeCase
        /// As a closure says for a key.
        @preconcurrency case custom(@Sendable (_ key: String) -> String)

        func name(of key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.snakeCased(key)
            case .custom(let convert): convert(key)
            }
        }

        /// A run of capitals is one word, but for the last of them where a small letter follows.
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

    /// How dates are written.
    public enum DateEncodingStrategy: Sendable {
        /// As ISO 8601 has it, in UTC: `2024-05-06T07:08:09Z`, with milliseconds where the date has some.
        case iso8601
        /// As the seconds since 1970.
        case secondsSince1970
        /// As the milliseconds since 1970.
        case millisecondsSince1970
        /// As a formatter writes them.
        case formatted(DateFormatter)
        /// As a closure writes them.
        @preconcurrency case custom(@Sendable (_ date: Date) throws -> String)
    }
}

// MARK: - Texts of values

extension CSVParameterEncoder {
    /// The text of what a field can be; nil for a value of another type, which has to encode itself.
    ///
    /// - Parameter error: Makes the error of what cannot be written.
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
            // The years 1 to 9999, as ISO 8601 has four digits.
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
    /// An encoder of CSV bodies.
    public static var csv: CSVParameterEncoder { CSVParameterEncoder() }

    /// An encoder of CSV bodies.
    ///
    /// - Parameters:
    ///   - format: How rows are written. The default is RFC 4180, with a header.
    ///   - columns: The columns and their order. The default is nil: the keys of all rows, as they come;
    ///     those of a dictionary are sorted.
    public static func csv(format: CSVFormat = CSVFormat(), columns: [String]? = nil) -> CSVParameterEncoder {
        CSVParameterEncoder(format: format, columns: columns)
    }
}
