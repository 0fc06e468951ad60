import Foundation

/// Writes rows, and quotes the fields that need it (RFC 4180, section 2).
struct CSVWriter {
    private let syntax: CSVSyntax
    private(set) var data = Data()

    init(_ syntax: CSVSyntax) { self.syntax = syntax }

    /// Writes a row. A field of nil has nothing in it, not even quotation marks.
    ///
    /// - Throws: A ``CSVEncodingError`` for a text that needs quotation marks where there are none.
    mutating func write(_ fields: [String?], row: Int?) throws(CSVEncodingError) {
        // With nothing in it, the line would be empty.
        let isAlone = fields.count == 1
        for (index, text) in fields.enumerated() {
            if index > 0 { data.append(syntax.delimiter) }
            let isQuoted = text.map { needsQuotes($0, isFirst: index == 0) } ?? isAlone
            guard isQuoted else {
                data.append(contentsOf: (text ?? "").utf8)
                continue
            }
            guard syntax.hasQuote else {
                guard text.map(\.isEmpty) ?? true, !isAlone || !syntax.skipsEmptyLines else {
                    throw CSVEncodingError(.unquotableText, row: row, column: String(index))
                }
                continue
            }
            writeQuoted(text ?? "")
        }
        data.append(contentsOf: [.carriageReturn, .lineFeed])
    }

    private mutating func writeQuoted(_ text: String) {
        data.append(syntax.quote)
        for byte in text.utf8 {
            if byte == syntax.quote { data.append(byte) }
            data.append(byte)
        }
        data.append(syntax.quote)
    }

    private func needsQuotes(_ text: String, isFirst: Bool) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last else { return true }
        // What begins a body with U+FEFF has a byte-order mark.
        if data.isEmpty, text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) { return true }
        if syntax.isTrimmed(first) || syntax.isTrimmed(last) || (isFirst && first == syntax.comment) { return true }
        return text.utf8.contains {
            $0 == syntax.delimiter || $0 == syntax.quote || $0 == .lineFeed || $0 == .carriageReturn
        }
    }
}
