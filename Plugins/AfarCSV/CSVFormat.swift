/// How rows are written: the delimiter, the quotation mark, where the columns' names come from.
///
/// The default is RFC 4180: fields between commas, quoted where they need it, names in the first row. Rows end with CR LF, LF
/// or CR, whatever the format; a byte-order mark is passed over.
public struct CSVFormat: Hashable, Sendable {
    /// Where the columns' names come from.
    public enum Header: Hashable, Sendable {
        /// From the first row.
        case firstRow
        /// They are these, in this order; the first row is a row.
        case names([String])
        /// There are none; columns are numbers from 0.
        case none
    }

    /// What stands between fields: one ASCII character. The default is a comma.
    public var delimiter: Character
    /// What stands around fields that contain delimiters, line endings or itself: one ASCII character, doubled inside such a
    /// field. The default is `"`; with nil fields are never quoted.
    public var quote: Character?
    /// What begins a line that is passed over: one ASCII character. The default is nil: there are no such lines.
    public var comment: Character?
    /// Where the columns' names come from. The default is the first row.
    public var header: Header
    /// Whether spaces and tabs around fields are left out, those inside quotation marks not. The default is false, as RFC
    /// 4180 wants it (section 2, item 4).
    public var trimsWhitespace: Bool
    /// Whether lines with nothing in them are passed over. The default is true; with false they are rows of one empty field.
    public var skipsEmptyLines: Bool
    /// Whether rows may have fewer or more fields than the header, or than the first row where there is no header. The
    /// default is false (RFC 4180, section 2, item 4). What is missing has no value; what is too much has no name.
    public var allowsUnevenRows: Bool
    /// What stands between a number's integer and fraction: one ASCII character. The default is a full stop.
    public var decimalSeparator: Character

    /// Makes a format.
    public init(
        delimiter: Character = ",",
        quote: Character? = "\"",
        comment: Character? = nil,
        header: Header = .firstRow,
        trimsWhitespace: Bool = false,
        skipsEmptyLines: Bool = true,
        allowsUnevenRows: Bool = false,
        decimalSeparator: Character = "."
    ) {
        self.delimiter = delimiter
        self.quote = quote
        self.comment = comment
        self.header = header
        self.trimsWhitespace = trimsWhitespace
        self.skipsEmptyLines = skipsEmptyLines
        self.allowsUnevenRows = allowsUnevenRows
        self.decimalSeparator = decimalSeparator
    }

    /// RFC 4180.
    public static var rfc4180: CSVFormat { CSVFormat() }
    /// Tabs in place of commas.
    public static var tabSeparated: CSVFormat { CSVFormat(delimiter: "\t") }
    /// Semicolons between fields and commas in numbers, as spreadsheets write them in much of Europe.
    public static var semicolonSeparated: CSVFormat { CSVFormat(delimiter: ";", decimalSeparator: ",") }
}

// MARK: - Limits

/// What CSV from a server may cost. A row beyond a limit fails with a ``CSVError`` and is not kept.
public struct CSVLimits: Hashable, Sendable {
    /// The limits.
    public enum Limit: String, Sendable {
        /// ``CSVLimits/maximumFieldLength``.
        case fieldLength
        /// ``CSVLimits/maximumFieldCount``.
        case fieldCount
        /// ``CSVLimits/maximumRowLength``.
        case rowLength
        /// ``CSVLimits/maximumRowCount``.
        case rowCount
    }

    /// The bytes of a field, in UTF-8. The default is 1 MiB.
    public var maximumFieldLength: Int
    /// The fields of a row. The default is 10,000.
    public var maximumFieldCount: Int
    /// The bytes of a row, in UTF-8, where doubled quotation marks count once. The default is 8 MiB.
    public var maximumRowLength: Int
    /// The rows, without the header; nothing is read beyond. By default there is no limit: rows that are kept are those of a
    /// body in memory, which has its own.
    public var maximumRowCount: Int

    /// Makes limits.
    public init(
        maximumFieldLength: Int = 1 << 20,
        maximumFieldCount: Int = 10_000,
        maximumRowLength: Int = 8 << 20,
        maximumRowCount: Int = .max
    ) {
        self.maximumFieldLength = maximumFieldLength
        self.maximumFieldCount = maximumFieldCount
        self.maximumRowLength = maximumRowLength
        self.maximumRowCount = maximumRowCount
    }
}

// MARK: - The format in bytes

/// A ``CSVFormat`` in bytes.
struct CSVSyntax: Sendable {
    let delimiter: UInt8
    /// The quotation mark. Without one, it is the delimiter, which is never taken for a quotation mark.
    let quote: UInt8
    let hasQuote: Bool
    let comment: UInt8?
    let trimsWhitespace: Bool
    let skipsEmptyLines: Bool
    let decimalSeparator: UInt8

    init(_ format: CSVFormat) throws(CSVError) {
        let delimiter = try Self.byte(format.delimiter, "delimiter")
        let quote = try format.quote.map { character throws(CSVError) in try Self.byte(character, "quotation mark") }
        comment = try format.comment.map { character throws(CSVError) in try Self.byte(character, "mark of comments") }
        decimalSeparator = try Self.byte(format.decimalSeparator, "decimal separator")
        let marks = [delimiter, quote, comment].compactMap { $0 }
        guard Set(marks).count == marks.count else {
            throw CSVError(
                .invalidFormat("the delimiter, the quotation mark and the mark of comments must differ"), line: nil,
                column: nil)
        }
        self.delimiter = delimiter
        self.quote = quote ?? delimiter
        hasQuote = quote != nil
        trimsWhitespace = format.trimsWhitespace
        skipsEmptyLines = format.skipsEmptyLines
    }

    /// Whether a byte is left out around fields.
    func isTrimmed(_ byte: UInt8) -> Bool {
        trimsWhitespace && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")) && byte != delimiter
    }

    private static func byte(_ character: Character, _ name: String) throws(CSVError) -> UInt8 {
        // Swift takes CR LF for one character, whose ASCII value is LF.
        guard let byte = character.asciiValue, byte != .lineFeed, byte != .carriageReturn else {
            throw CSVError(
                .invalidFormat("the \(name) must be one ASCII character, and no line ending"), line: nil, column: nil)
        }
        return byte
    }
}

extension UInt8 {
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
}
