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
