public import AfarSerializers
public import Foundation

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
