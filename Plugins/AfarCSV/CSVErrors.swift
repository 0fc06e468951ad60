public import AfarSerializers
public import Foundation

/// An error in CSV input, with its position.
public struct CSVError: Error, Hashable, Sendable {
    /// The cause of an error.
    public enum Reason: Hashable, Sendable {
        /// A field contains a quotation mark but doesn't begin with one (RFC 4180, section 2, item 5).
        case unexpectedQuote
        /// Text follows a closing quotation mark before the next delimiter.
        case textAfterQuote
        /// A quoted field has no closing quotation mark.
        case unterminatedQuote
        /// The number of fields in a row differs from the number of fields in the header or the first row.
        case fieldCount(found: Int, expected: Int)
        /// A column name isn't valid text in the encoding.
        case malformedHeader(TextEncoding)
        /// The row with the column names is missing.
        case missingHeader
        /// The input exceeds one of the ``CSVLimits``.
        case limitExceeded(CSVLimits.Limit, maximum: Int)
        /// The ``CSVFormat`` is invalid, for the associated reason.
        case invalidFormat(String)
    }

    /// The cause of the error.
    public let reason: Reason
    /// The line number, starting from 1. For a field, the line on which the field begins. Nil if no line was read.
    public let line: Int?
    /// The number of the column, starting from 1. Nil if the error concerns the entire row.
    public let column: Int?

    /// Creates an error.
    public init(_ reason: Reason, line: Int?, column: Int?) {
        self.reason = reason
        self.line = line
        self.column = column
    }
}

extension CSVError: LocalizedError, CustomStringConvertible {
    /// A description of the cause, the position, and a possible solution.
    public var description: String {
        let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
        return "The CSV \(fault)\(place.isEmpty ? "" : " (\(place.joined(separator: ", ")))"). \(advice)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private var fault: String {
        switch reason {
        case .unexpectedQuote: "has a quotation mark in a field that doesn't begin with one"
        case .textAfterQuote: "has text after a closing quotation mark"
        case .unterminatedQuote: "has a quoted field without a closing quotation mark"
        case .fieldCount(let found, let expected): "has a row with \(found) fields instead of \(expected)"
        case .malformedHeader(let encoding): "has a column name that isn't valid \(encoding)"
        case .missingHeader: "has no row with column names"
        case .limitExceeded(.fieldLength, let maximum): "has a field of more than \(maximum) bytes"
        case .limitExceeded(.fieldCount, let maximum): "has a row of more than \(maximum) fields"
        case .limitExceeded(.rowLength, let maximum): "has a row of more than \(maximum) bytes"
        case .limitExceeded(.rowCount, let maximum): "has more than \(maximum) rows"
        case .invalidFormat(let why): "cannot be read or written in this format: \(why)"
        }
    }

    private var advice: String {
        switch reason {
        case .unexpectedQuote, .textAfterQuote, .unterminatedQuote:
            "If its quotation mark is a different one, or none, set CSVFormat.quote."
        case .fieldCount:
            "Check the delimiter (CSVFormat.delimiter), or allow uneven rows (CSVFormat.allowsUnevenRows)."
        case .malformedHeader: "Set the correct encoding (CSVDataDecoder.encoding)."
        case .missingHeader: "If it has no header, change CSVFormat.header."
        case .limitExceeded: "If you trust its sender, increase the limits (CSVLimits)."
        case .invalidFormat: "Change the CSVFormat."
        }
    }
}

/// An error for a value that can't be encoded as CSV because it isn't a table.
public struct CSVEncodingError: Error, Hashable, Sendable {
    /// The cause of an error.
    public enum Reason: Hashable, Sendable {
        /// The parameters aren't a sequence of rows.
        case noRows
        /// A field contains a list or a value with keys.
        case nestedValue
        /// The format requires a header, but the rows have no keys to use as column names.
        case missingNames
        /// Only some rows, or only some fields of a row, have keys.
        case mixedRows
        /// Two keys of a row have the same column name, or two of the specified columns have the same name.
        case duplicateColumn
        /// A row has a key that isn't one of the specified columns.
        case unknownColumn
        /// A row has no fields, or a row without keys has the wrong number of fields. The specified columns determine this
        /// number. Without them, the first row determines it.
        case fieldCount(found: Int, expected: Int)
        /// A number is infinite or not a number.
        case nonFiniteNumber
        /// The year of a date is outside the range of ISO 8601.
        case dateOutOfRange
        /// A field requires quotation marks, but the format has none.
        case unquotableText
        /// A value is wrapped in other values at least 100 levels deep, possibly without end.
        case endlessValue
    }

    /// The cause of the error.
    public let reason: Reason
    /// The index of the row, starting from 0. Nil if the error concerns several rows.
    public let row: Int?
    /// The key or the index of the field. Nil if the error concerns the entire row.
    public let column: String?

    /// Creates an error.
    public init(_ reason: Reason, row: Int?, column: String?) {
        self.reason = reason
        self.row = row
        self.column = column
    }
}

extension CSVEncodingError: LocalizedError, CustomStringConvertible {
    /// A description of the cause, the position, and a possible solution.
    public var description: String {
        let place = [row.map { "row \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
        return place.isEmpty ? words : "\(words) (\(place.joined(separator: ", ")))"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private var words: String {
        switch reason {
        case .noRows: "CSV is a sequence of rows. Encode an array of rows."
        case .nestedValue: "A CSV field can't contain other values. Encode the value as text."
        case .missingNames:
            "The rows have no keys for a header. Specify the columns (CSVParameterEncoder.columns), or omit the header "
                + "(CSVFormat.header)."
        case .mixedRows: "Only some rows, or some fields of a row, have keys. Encode rows of the same type."
        case .duplicateColumn:
            "Several columns have the same name. Make the names (CSVParameterEncoder.columns, CSVFormat.header) and the "
                + "converted keys (CSVParameterEncoder.keyEncodingStrategy) unique."
        case .unknownColumn: "The row has a key that isn't a column. Add it to CSVParameterEncoder.columns."
        case .fieldCount(let found, let expected):
            "The row has \(found) fields instead of \(expected). Encode rows of the same length, or allow uneven rows "
                + "(CSVFormat.allowsUnevenRows)."
        case .nonFiniteNumber: "CSV doesn't support infinity and NaN. Encode nil or text."
        case .dateOutOfRange: "ISO 8601 supports only the years 1 to 9999. Encode nil or text."
        case .unquotableText: "The text requires quotation marks, but the format has none (CSVFormat.quote)."
        case .endlessValue: "The value encodes itself as another value more than 100 times."
        }
    }
}
