/// The format of rows. It includes the delimiter, the quotation mark and the source of the column names.
///
/// The default is RFC 4180: comma-separated fields, quoted if necessary, and column names in the first row. In all formats, rows
/// end with CR LF, LF or CR, and a byte-order mark is skipped.
public struct CSVFormat: Hashable, Sendable {
    /// The source of the column names.
    public enum Header: Hashable, Sendable {
        /// The first row.
        case firstRow
        /// The given names, in this order. The first row contains values.
        case names([String])
        /// No names. The columns are numbered from 0.
        case none
    }

    /// The delimiter between fields, one ASCII character. The default is a comma.
    public var delimiter: Character
    /// The quotation mark, one ASCII character. It encloses fields that contain delimiters, line endings or quotation marks, and is
    /// doubled within a field. The default is `"`. If it's nil, fields are never quoted.
    public var quote: Character?
    /// The character that begins a comment line, one ASCII character. Comment lines are skipped. The default is nil, which
    /// skips no lines.
    public var comment: Character?
    /// The source of the column names. The default is the first row.
    public var header: Header
    /// A Boolean value that indicates whether spaces and tabs around fields are removed, except those inside quotation marks. The
    /// default is false, as RFC 4180 requires (section 2, item 4).
    public var trimsWhitespace: Bool
    /// A Boolean value that indicates whether empty lines are skipped. The default is true. If it's false, empty lines are rows
    /// with one empty field.
    public var skipsEmptyLines: Bool
    /// A Boolean value that indicates whether rows can have different numbers of fields. The default is false: each row must have
    /// as many fields as the header or, without a header, the first row (RFC 4180, section 2, item 4). Missing fields have no
    /// value, and extra fields have no name.
    public var allowsUnevenRows: Bool
    /// The separator between the integer and fraction parts of a number, one ASCII character. The default is a full stop.
    public var decimalSeparator: Character

    /// Creates a format.
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

    /// The format of RFC 4180.
    public static var rfc4180: CSVFormat { CSVFormat() }
    /// The format with tabs between fields.
    public static var tabSeparated: CSVFormat { CSVFormat(delimiter: "\t") }
    /// The format with semicolons between fields and decimal commas, which spreadsheets use in much of Europe.
    public static var semicolonSeparated: CSVFormat { CSVFormat(delimiter: ";", decimalSeparator: ",") }
}

/// Limits on CSV from a server. A row that exceeds a limit fails with a ``CSVError`` and is discarded.
public struct CSVLimits: Hashable, Sendable {
    /// A limit.
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

    /// The maximum length of a field in bytes of UTF-8. The default is 1 MiB.
    public var maximumFieldLength: Int
    /// The maximum number of fields in a row. The default is 10,000.
    public var maximumFieldCount: Int
    /// The maximum length of a row in bytes of UTF-8, with doubled quotation marks counted once. The default is 8 MiB.
    public var maximumRowLength: Int
    /// The maximum number of rows, not counting the header. Reading stops after this number. The default is unlimited, because rows are
    /// collected only from a body that is already in memory. The size of that body has its own limit.
    public var maximumRowCount: Int

    /// Creates limits.
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

/// A ``CSVFormat`` with each character as a byte.
struct CSVSyntax: Sendable {
    let delimiter: UInt8
    /// The quotation mark. If the format has none, ``hasQuote`` is false and this property equals ``delimiter``.
    let quote: UInt8
    let hasQuote: Bool
    let comment: UInt8?
    let trimsWhitespace: Bool
    let skipsEmptyLines: Bool
    let decimalSeparator: UInt8

    init(_ format: CSVFormat) throws(CSVError) {
        let delimiter = try Self.byte(format.delimiter, "delimiter")
        let quote = try format.quote.map { character throws(CSVError) in try Self.byte(character, "quotation mark") }
        comment = try format.comment.map { character throws(CSVError) in try Self.byte(character, "comment mark") }
        decimalSeparator = try Self.byte(format.decimalSeparator, "decimal separator")
        let marks = [delimiter, quote, comment].compactMap { $0 }
        guard Set(marks).count == marks.count else {
            throw CSVError(
                .invalidFormat("the delimiter, the quotation mark and the comment mark must differ"), line: nil,
                column: nil)
        }
        self.delimiter = delimiter
        self.quote = quote ?? delimiter
        hasQuote = quote != nil
        trimsWhitespace = format.trimsWhitespace
        skipsEmptyLines = format.skipsEmptyLines
    }

    /// Returns whether a byte is white space to remove at the start or end of a field.
    func isTrimmed(_ byte: UInt8) -> Bool {
        trimsWhitespace && (byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")) && byte != delimiter
    }

    private static func byte(_ character: Character, _ name: String) throws(CSVError) -> UInt8 {
        // CR LF is a single Character, whose ASCII value is LF.
        guard let byte = character.asciiValue, byte != .lineFeed, byte != .carriageReturn else {
            throw CSVError(
                .invalidFormat("the \(name) must be one ASCII character and not a line ending"), line: nil, column: nil)
        }
        return byte
    }
}

extension UInt8 {
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
}
