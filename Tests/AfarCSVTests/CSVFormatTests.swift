import AfarCSV
import Foundation
import Testing

/// Parsing of rows and fields according to RFC 4180, section 2, and the options of `CSVFormat`.
@Suite struct CSVFormatTests {
    @Test(
        arguments: [
            // Items 1 and 2: one row per line; the last line break is optional.
            ("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n", [["aaa", "bbb", "ccc"], ["zzz", "yyy", "xxx"]]),
            ("aaa,bbb,ccc\r\nzzz,yyy,xxx", [["aaa", "bbb", "ccc"], ["zzz", "yyy", "xxx"]]),
            // Item 4: spaces are part of a field.
            ("a , b\r\n", [["a ", " b"]]),
            // Items 5 to 7: quotation marks.
            ("\"aaa\",\"bbb\",\"ccc\"\r\nzzz,yyy,xxx", [["aaa", "bbb", "ccc"], ["zzz", "yyy", "xxx"]]),
            ("\"aaa\",\"b\r\nbb\",\"ccc\"\r\n", [["aaa", "b\r\nbb", "ccc"]]),
            ("\"aaa\",\"b\"\"bb\",\"ccc\"", [["aaa", "b\"bb", "ccc"]]),
            ("\"\"\"\",\"\",\",\"\n", [["\"", "", ","]]),
            // Other line breaks, also mixed.
            ("a,b\nc,d\re,f\r\ng,h", [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]),
            (",\r\n,x\r\n", [["", ""], ["", "x"]]),
            ("\n\na,b\n\r\n\r\rc,d\n\n", [["a", "b"], ["c", "d"]]),
            ("\"\"\n\"\"", [[""], [""]]),
            ("", []), ("\r\n", []), ("a", [["a"]]), ("a,", [["a", ""]]), ("ä\u{0}💡", [["ä\u{0}💡"]]),
        ] as [(String, [[String]])])
    func rowsAndFields(text: String, expected: [[String]]) throws {
        #expect(try rows(text) == expected)
        #expect(try rows("\u{FEFF}" + text) == expected)
    }

    @Test(arguments: PythonTables.all.indices)
    func tablesWrittenByPythonAreParsed(index: Int) throws {
        let table = PythonTables.all[index]
        #expect(try rows(table.text, table.format) == table.rows)
    }

    @Test func otherDelimitersAndQuotationMarks() throws {
        #expect(try rows("a;'b;''c'\n", CSVFormat(delimiter: ";", quote: "'", header: .none)) == [["a", "b;'c"]])
        #expect(try rows("a\tb,c\n", CSVFormat(delimiter: "\t", header: .none)) == [["a", "b,c"]])
        #expect(try rows("a,\"b\nc,d\n", CSVFormat(quote: nil, header: .none)) == [["a", "\"b"], ["c", "d"]])
    }

    @Test func commentsAreSkippedIfEnabled() throws {
        let text = "# one, \"two\n#\r\na,#b\r\n#end"
        #expect(try rows(text, CSVFormat(comment: "#", header: .none)) == [["a", "#b"]])
        #expect(throws: CSVError.self) { try rows(text) }
    }

    @Test func whiteSpaceIsTrimmedIfEnabled() throws {
        let format = CSVFormat(header: .none, trimsWhitespace: true)
        #expect(
            try rows(" a b\t, \" c \" ,  ,\"\" \n\t \n d,e,f,g ", format) == [
                ["a b", " c ", "", ""], ["d", "e", "f", "g"],
            ])
        let tabs = CSVFormat(delimiter: "\t", header: .none, trimsWhitespace: true)
        #expect(try rows(" a \t\t b", tabs) == [["a", "", "b"]])
    }

    @Test func emptyLinesCanBeRows() throws {
        #expect(try rows("a\n\r\n\nb", CSVFormat(header: .none, skipsEmptyLines: false)) == [["a"], [""], [""], ["b"]])
    }

    @Test func unevenRowsAreErrorsUnlessTheyAreAllowed() throws {
        let error = #expect(throws: CSVError.self) { try rows("a,b\nc\n") }
        #expect(error == CSVError(.fieldCount(found: 1, expected: 2), line: 2, column: nil))
        #expect(
            try rows("a,b\nc\nd,e,f", CSVFormat(header: .none, allowsUnevenRows: true)) == [
                ["a", "b"], ["c"], ["d", "e", "f"],
            ])
    }

    @Test(
        arguments: [
            ("a,b\nc\"d,e\n", .unexpectedQuote, 2, 1),
            ("a,b\n\"x\ny\",\"c\"d\n", .textAfterQuote, 3, 2),
            ("a,\"b\nc\nd", .unterminatedQuote, 1, 2),
            ("a,\"b\r\nc\rd\n\",f\"", .unexpectedQuote, 4, 3),
            ("\r\n\r\n\na,\"\" ", .textAfterQuote, 4, 2),
        ] as [(String, CSVError.Reason, Int, Int)])
    func invalidCSVIsAnErrorWithItsLocation(text: String, reason: CSVError.Reason, line: Int, column: Int) {
        let error = #expect(throws: CSVError.self) { try rows(text, CSVFormat(header: .none, allowsUnevenRows: true)) }
        #expect(error == CSVError(reason, line: line, column: column))
    }

    @Test(
        arguments: [
            CSVFormat(delimiter: "é"), CSVFormat(delimiter: "\r\n"), CSVFormat(delimiter: "\""), CSVFormat(quote: "\n"),
            CSVFormat(comment: "\""), CSVFormat(delimiter: "#", comment: "#"), CSVFormat(decimalSeparator: "٫"),
        ])
    func anInvalidFormatIsAnError(format: CSVFormat) {
        let error = #expect(throws: CSVError.self) { try rows("a,b", format) }
        guard case .invalidFormat = error?.reason else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
    }

    @Test func errorsDescribeTheProblemTheLocationAndARemedy() {
        #expect(
            CSVError(.fieldCount(found: 3, expected: 2), line: 7, column: nil).localizedDescription == """
                The CSV has a row with 3 fields instead of 2 (line 7). Check the delimiter (CSVFormat.delimiter), or allow \
                uneven rows (CSVFormat.allowsUnevenRows).
                """)
        #expect(
            CSVError(.limitExceeded(.fieldLength, maximum: 9), line: 2, column: 3).description == """
                The CSV has a field of more than 9 bytes (line 2, column 3). If you trust its sender, increase the limits \
                (CSVLimits).
                """)
    }
}
