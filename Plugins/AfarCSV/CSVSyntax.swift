/// A ``CSVFormat`` in bytes.
struct CSVSyntax: Sendable {
    let delimiter: UInt8
    /// The delimiter where there is none: a byte that is taken for a delimiter is no quotation mark.
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
