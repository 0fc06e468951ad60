public import AfarSerializers
public import Foundation

// MARK: - Reading

/// CSV that cannot be read, and where.
public struct CSVError: Error, Hashable, Sendable {
    /// What was wrong.
    public enum Reason: Hashable, Sendable {
        /// A quotation mark stands in a field that does not begin with one (RFC 4180, section 2, item 5).
        case unexpectedQuote
        /// Something stands between a closing quotation mark and the next delimiter.
        case textAfterQuote
        /// A quoted field has no end.
        case unterminatedQuote
        /// A row has another number of fields than the header or the first row.
        case fieldCount(found: Int, expected: Int)
        /// The names of the columns are not text in the encoding.
        case malformedHeader(TextEncoding)
        /// There is no row with the columns' names.
        case missingHeader
        /// Something is beyond one of the ``CSVLimits``.
        case limitExceeded(CSVLimits.Limit, maximum: Int)
        /// A ``CSVFormat`` that means nothing; the words say why.
        case invalidFormat(String)
    }

    /// What was wrong.
    public let reason: Reason
    /// The line; the first is 1. That of a field is where it begins. Nil when nothing was read.
    public let line: Int?
    /// The column in the table, that is the number of the field in its row; the first is 1. Nil when it is the whole row.
    public let column: Int?

    /// Makes an error.
    public init(_ reason: Reason, line: Int?, column: Int?) {
        self.reason = reason
        self.line = line
        self.column = column
    }
}

extension CSVError: LocalizedError, CustomStringConvertible {
    /// What was wrong, where, and what can be done.
    public var description: String {
        let place = [line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
        return "The CSV \(fault)\(place.isEmpty ? "" : " (\(place.joined(separator: ", ")))"). \(advice)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private var fault: String {
        switch reason {
        case .unexpectedQuote: "has a quotation mark in a field that does not begin with one"
        case .textAfterQuote: "has something between a closing quotation mark and the next delimiter"
        case .unterminatedQuote: "has a quoted field without an end"
        case .fieldCount(let found, let expected): "has a row of \(found) fields where \(expected) are expected"
        case .malformedHeader(let encoding): "has a name of a column that is not valid \(encoding)"
        case .missingHeader: "has no row with the names of its columns"
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
            "Read it with another quotation mark, or none (CSVFormat.quote), if that is how it is written."
        case .fieldCount:
            "Look at the delimiter (CSVFormat.delimiter), or allow such rows (CSVFormat.allowsUnevenRows)."
        case .malformedHeader: "Name the right encoding (CSVDataDecoder.encoding)."
        case .missingHeader: "If it should have none, give the names or none (CSVFormat.header)."
        case .limitExceeded: "Read it with larger limits (CSVLimits) if its sender can be trusted."
        case .invalidFormat: "Change the CSVFormat."
        }
    }
}

// MARK: - Writing

/// A value that is no table, and so cannot be written as CSV.
public struct CSVEncodingError: Error, Hashable, Sendable {
    /// What was wrong.
    public enum Reason: Hashable, Sendable {
        /// The parameters are no sequence of rows.
        case noRows
        /// There is a list, or something with keys, in a field.
        case nestedValue
        /// A header is to be written, and the rows have no keys that could be the names of the columns.
        case missingNames
        /// Some rows have keys and some have none, or a row has both fields with keys and fields without.
        case mixedRows
        /// Two keys of a row have the name of one column, or two columns that were given have one name.
        case duplicateColumn
        /// A row has a key that none of the columns has that were given.
        case unknownColumn
        /// A row without keys has another number of fields than the columns that were given, or than the first row.
        case fieldCount(found: Int, expected: Int)
        /// A number is infinite or not a number.
        case nonFiniteNumber
        /// ISO 8601 has no such year.
        case dateOutOfRange
        /// A text needs quotation marks, and the format has none.
        case unquotableText
        /// A field's value encodes itself as another value more than 100 times.
        case endlessValue
    }

    /// What was wrong.
    public let reason: Reason
    /// The row; the first is 0. Nil when it is no single one.
    public let row: Int?
    /// The key or the number of the field. Nil when it is the whole row.
    public let column: String?

    /// Makes an error.
    public init(_ reason: Reason, row: Int?, column: String?) {
        self.reason = reason
        self.row = row
        self.column = column
    }
}

extension CSVEncodingError: LocalizedError, CustomStringConvertible {
    /// What was wrong, where, and what can be done.
    public var description: String {
        let place = [row.map { "row \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
        return place.isEmpty ? words : "\(words) (\(place.joined(separator: ", ")))"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private var words: String {
        switch reason {
        case .noRows: "CSV is a sequence of rows. Encode an array of what a row is."
        case .nestedValue: "A field of CSV has no other values in it. Encode such a value as text."
        case .missingNames:
            "The rows have no keys for a header. Name the columns (CSVParameterEncoder.columns), or write no header "
                + "(CSVFormat.header)."
        case .mixedRows: "Some rows, or fields of a row, have keys and some have none. Encode rows of one type."
        case .duplicateColumn:
            "Several columns have one name. Give each another (CSVParameterEncoder.columns, CSVFormat.header), and other "
                + "names to keys that become the same (CSVParameterEncoder.keyEncodingStrategy)."
        case .unknownColumn: "The row has a key that is none of the columns. Name it (CSVParameterEncoder.columns)."
        case .fieldCount(let found, let expected):
            "The row has \(found) fields where \(expected) are expected. Encode rows of one length, or allow others "
                + "(CSVFormat.allowsUnevenRows)."
        case .nonFiniteNumber: "CSV has no infinite numbers, and none that are no numbers. Encode nil or a text."
        case .dateOutOfRange: "ISO 8601 has only the years 1 to 9999. Encode nil or a text."
        case .unquotableText: "The text needs quotation marks, and the format has none (CSVFormat.quote)."
        case .endlessValue: "The value encodes itself as another value again and again."
        }
    }
}
