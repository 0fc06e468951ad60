import AfarCSV
import AfarCore
import Foundation
import Testing

/// The tokenizer parses complete data and chunks with the same result.
@Suite struct CSVRowsParserTests {
    private static let texts = [
        Person.csv,
        "\u{FEFF}a,b\r\n\"x\r\n\"\"y\"\"\",\"\"\r\r\n\r\n# c,\"\n, z \t,\n\"q\" ,\"\"\"\"\nlast,row",
        "a,b\n\"bad\"x,\"y\nz\",1\nok,2\nun\"quoted,3\n1,2,3\n\"never,ends\n",
        "ä💡,ö\n\u{FFFD},\"ü\r\"\n",
    ]

    /// For every format and every position at which a text is split, the rows and errors are the same.
    @Test(arguments: texts, [false, true])
    func chunkBoundariesDoNotMatter(text: String, trims: Bool) {
        let data = Data(text.utf8)
        let format = CSVFormat(comment: "#", trimsWhitespace: trims, skipsEmptyLines: !trims, allowsUnevenRows: trims)
        for limit in [1 << 20, 6, 3, 0] {
            let limits = CSVLimits(maximumFieldLength: limit, maximumRowLength: limit.addingReportingOverflow(6).0)
            let decoder = CSVDataDecoder(format: format, limits: limits)
            let whole = parsed([String].self, data, decoder, every: data.count).map(Self.words)
            for size in 1..<data.count {
                #expect(parsed([String].self, data, decoder, every: size).map(Self.words) == whole)
            }
        }
    }

    @Test func aStreamHasTheSameRowsAsADocument() throws {
        let results = parsed(Person.self, Data(Person.csv.utf8), CSVDataDecoder(), every: 7)
        #expect(try results.map { try $0.get() } == Person.people)
    }

    @Test func rowsAreDeliveredWhenTheyAreComplete() {
        var parser = CSVRowsParser<[Int]>(decoder: CSVDataDecoder(format: .rows))
        #expect(parser.parse(Data("1,2\n3,".utf8)).count == 1)
        #expect(parser.parse(Data("4\r".utf8)).count == 1)
        #expect(parser.parse(Data("\n5,6".utf8)).isEmpty)
        #expect(parser.finish().count == 1)
    }

    @Test func rowsAfterAFailureAreParsed() {
        let text = "name,age\na,1\nb,old\nc\nd\"d,4\n\"e\"e,\"5\n,\"\nf,6\n\"\"\"g\"\"\",7\n"
        let results = parsed(Person.self, Data(text.utf8), CSVDataDecoder(), every: 1)
        #expect(results.map { (try? $0.get())?.name } == ["a", nil, nil, nil, nil, "f", "\"g\""])
    }

    @Test func anInvalidHeaderEndsTheRows() {
        let results = parsed(Person.self, Data("na\"me,age\na,1\nb,2\n".utf8), CSVDataDecoder(), every: 4)
        #expect(results.count == 1)
        #expect(parsed(Person.self, Data(), CSVDataDecoder(), every: 1).count == 1)
        let invalid = CSVDataDecoder(format: CSVFormat(delimiter: "\n"))
        #expect(parsed(Person.self, Data(Person.csv.utf8), invalid, every: 1).count == 1)
    }

    private static func words(_ result: Result<[String], AFError>) -> String {
        switch result {
        case .success(let row): "\(row)"
        case .failure(let error): "\(error.underlyingError ?? error)"
        }
    }
}
