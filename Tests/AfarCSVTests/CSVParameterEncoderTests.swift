import AfarCSV
import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Rows as request bodies.
@Suite struct CSVParameterEncoderTests {
    private func body(_ rows: some Encodable & Sendable, _ encoder: CSVParameterEncoder = .csv) throws -> String {
        let request = URLRequest(url: try "http://example.com/".asURL())
        return String(decoding: try #require(try encoder.encode(rows, into: request).httpBody), as: UTF8.self)
    }

    private func error(_ rows: some Encodable & Sendable, _ encoder: CSVParameterEncoder = .csv) -> CSVEncodingError? {
        do {
            _ = try body(rows, encoder)
            return nil
        } catch {
            return error.asAFError?.underlyingError as? CSVEncodingError
        }
    }

    @Test func rowsWithKeysHaveAHeader() throws {
        #expect(try body(Person.people) == Person.csv)
        #expect(try body(Person.people as [Person]?) == Person.csv)
        #expect(try body([Person]()) == "")
        #expect(try body([Person](), .csv(columns: ["name", "age"])) == "name,age\r\n")
    }

    @Test func columnsCanBeSpecified() throws {
        let columns = ["age", "name", "email", "note"]
        #expect(try body([Person(name: "a", age: 1)], .csv(columns: columns)) == "age,name,email,note\r\n1,a,,\r\n")
        #expect(try body([["b": 2, "a": 1]], .csv(columns: ["a", "b"])) == "a,b\r\n1,2\r\n")
        #expect(
            error([Person(name: "a", age: 1)], .csv(columns: ["name"]))
                == CSVEncodingError(.unknownColumn, row: 0, column: "age"))
        let names = CSVFormat(header: .names(["age", "name", "email"]))
        #expect(try body([Person(name: "a", age: 1)], .csv(format: names)) == "1,a,\r\n")
    }

    @Test func keysOfLaterRowsAreColumnsToo() throws {
        #expect(try body([["a": 1], ["b": 2]]) == "a,b\r\n1,\r\n,2\r\n")
    }

    @Test func theKeysOfADictionaryAreSorted() throws {
        struct Wrapper: Encodable {
            var fields: [String: Int]
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(fields)
            }
        }
        enum Column: String, CodingKeyRepresentable, Encodable { case first, second, third, fourth, fifth }
        let letters = (0..<26).map { String(UnicodeScalar(UInt8(ascii: "a") + $0)) }
        let header = letters.joined(separator: ",") + "\r\n"
        let values = (0..<26).map(String.init).joined(separator: ",") + "\r\n"
        let row = Dictionary(uniqueKeysWithValues: zip(letters, 0...))
        #expect(try body([row]) == header + values)
        #expect(try body([row as [String: Int]?]) == header + values)
        #expect(try body([Wrapper(fields: row)]) == header + values)
        #expect(try body([["z": 1], ["b": 1, "a": 2, "d": 3, "c": 4]]) == "z,a,b,c,d\r\n1,,,,\r\n,2,1,4,3\r\n")
        #expect(
            try body([[Column.first: 1, .second: 2, .third: 3, .fourth: 4, .fifth: 5]])
                == "fifth,first,fourth,second,third\r\n5,1,4,2,3\r\n")
    }

    @Test func rowsWithoutKeysHaveNoHeader() throws {
        #expect(try body([[1, 2], [3, 4]], .csv(format: .rows)) == "1,2\r\n3,4\r\n")
        #expect(try body(["a", "b"], .csv(format: .rows)) == "a\r\nb\r\n")
        #expect(try body([[1, 2]], .csv(columns: ["x", "y"])) == "x,y\r\n1,2\r\n")
        #expect(error([[1, 2]]) == CSVEncodingError(.missingNames, row: nil, column: nil))
        #expect(
            error([[1, 2], [3]], .csv(format: .rows))
                == CSVEncodingError(.fieldCount(found: 1, expected: 2), row: 1, column: nil))
        #expect(
            try body([[1], [2, 3]], .csv(format: CSVFormat(header: .none, allowsUnevenRows: true))) == "1\r\n2,3\r\n")
    }

    @Test func fieldsAreQuotedIfNecessary() throws {
        let row = ["a", "a,b", "a\"b", "a\nb", "a\r", " a", "", "#"]
        #expect(
            try body([row], .csv(format: .rows)) == "a,\"a,b\",\"a\"\"b\",\"a\nb\",\"a\r\", a,\"\",#\r\n")
        let format = CSVFormat(delimiter: ";", quote: "'", comment: "#", header: .none, trimsWhitespace: true)
        #expect(
            try body([["#a", "#b", "c;d", "e'f", " g", "h,"]], .csv(format: format))
                == "'#a';#b;'c;d';'e''f';' g';h,\r\n")
        // The only field of a row is quoted if it's empty, because parsers skip empty lines.
        #expect(try body([String?.none, "a"], .csv(format: .rows)) == "\"\"\r\na\r\n")
    }

    @Test func withoutQuotationMarksSomeTextsCannotBeWritten() throws {
        let plain = CSVFormat(delimiter: "\t", quote: nil, header: .none)
        #expect(try body([["a", "\"", "", "b,c"]], .csv(format: plain)) == "a\t\"\t\tb,c\r\n")
        #expect(error([["a", "b\tc"]], .csv(format: plain)) == CSVEncodingError(.unquotableText, row: 0, column: "1"))
        #expect(error([[""]], .csv(format: plain))?.reason == .unquotableText)
    }

    @Test func scalarsAreWritten() throws {
        struct Scalars: Encodable {
            enum Kind: String, Encodable { case one }
            var bool = true
            var int = UInt64.max
            var double = 0.1
            var decimal = Decimal(string: "12345678901234567890.123456789012345678")
            var date = Date(timeIntervalSince1970: 1_714_996_800)
            var later = Date(timeIntervalSince1970: 1_714_996_800.5)
            var data = Data("ABC".utf8)
            var url = URL(string: "https://example.com/a")
            var kind = Kind.one
            var nothing: Int?
        }
        #expect(
            try body([Scalars()]) == """
                bool,int,double,decimal,date,later,data,url,kind,nothing\r
                true,18446744073709551615,0.1,12345678901234567890.123456789012345678,2024-05-06T12:00:00Z,\
                2024-05-06T12:00:00.500Z,QUJD,https://example.com/a,one,\r\n
                """)
        var european = CSVParameterEncoder(format: .semicolonSeparated)
        european.dateEncodingStrategy = .secondsSince1970
        european.keyEncodingStrategy = .convertToSnakeCase
        struct Point: Encodable { var xPart = 1.5, madeAt = Date(timeIntervalSince1970: 2) }
        #expect(try body([Point()], european) == "x_part;made_at\r\n1,5;2,0\r\n")
    }

    @Test func valuesThatAreNotTablesAreErrors() {
        struct Nested: Encodable { var list = [1] }
        struct Deep: Encodable { var deep = ["a": 1] }
        struct Nothing: Encodable { var nothing: [Int] = [] }
        struct Endless: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(self)
            }
        }
        struct Field: Encodable { var endless = Endless() }
        #expect(error([Nested()]) == CSVEncodingError(.nestedValue, row: 0, column: "list"))
        #expect(error([Deep()]) == CSVEncodingError(.nestedValue, row: 0, column: "deep"))
        #expect(error([Nothing()]) == CSVEncodingError(.nestedValue, row: 0, column: "nothing"))
        #expect(error([[[1]]], .csv(format: .rows))?.reason == .nestedValue)
        #expect(error([[Int](), [1]], .csv(format: .rows))?.reason == .fieldCount(found: 0, expected: 1))
        #expect(error([[String: Int]()], .csv(format: .rows))?.reason == .fieldCount(found: 0, expected: 1))
        #expect(error(Person.people[0])?.reason == .noRows)
        #expect(error(["a": 1])?.reason == .noRows)
        #expect(error("text")?.reason == .noRows)
        #expect(error([Double.infinity], .csv(format: .rows))?.reason == .nonFiniteNumber)
        #expect(error([Date.distantPast.addingTimeInterval(-1e12)], .csv(format: .rows))?.reason == .dateOutOfRange)
        #expect(error([Person?.none, Person.people[0]])?.reason == .mixedRows)
        #expect(error([Endless()])?.reason == .endlessValue)
        #expect(error(Endless())?.reason == .endlessValue)
        #expect(error([Field()])?.reason == .endlessValue)
        #expect(
            CSVEncodingError(.nestedValue, row: 3, column: "list").localizedDescription
                == "A CSV field can't contain other values. Encode the value as text. (row 3, column list)")
    }

    @Test func aRowCannotMixKeysAndValues() throws {
        let mixed = CSVEncodingError(.mixedRows, row: 0, column: nil)
        #expect(error([Labelled(superclass: { try $0.encode("x") })]) == mixed)
        #expect(error([Labelled(superclass: { try $0.encodeNil() })]) == mixed)
        #expect(error([Labelled(superclass: { try $0.encode(["x", "y"]) })]) == mixed)
        #expect(error([Labelled(superclass: { try $0.encode(["b": "x"]) }, isListedFirst: true)]) == mixed)
        // The second row's value has no key, but would be in the column "b".
        let later = Labelled(superclass: { try $0.encode("x") })
        #expect(
            error([Labelled(superclass: { try $0.encode(["b": "y"]) }), later])
                == CSVEncodingError(.mixedRows, row: 1, column: nil))
        #expect(try body([Labelled(superclass: { try $0.encode(["b": "y"]) })]) == "a,b\r\n1,y\r\n")
    }

    @Test func twoKeysForTheSameColumnAreAnError() throws {
        var encoder = CSVParameterEncoder.csv
        encoder.keyEncodingStrategy = .convertToSnakeCase
        struct Name: Encodable {
            enum CodingKeys: String, CodingKey { case firstName, other = "first_name" }
            var firstName = "Ada"
            var other = "Grace"
        }
        #expect(error([Name()], encoder) == CSVEncodingError(.duplicateColumn, row: 0, column: "first_name"))
        let nothing = [["firstName": Int?.none], ["firstName": 1, "first_name": nil]]
        let fault = error(nothing, encoder)
        #expect(fault?.reason == .duplicateColumn)
        #expect(fault?.row == 1)
        // Each of these rows has only one of the two keys.
        #expect(try body([["firstName": 1], ["first_name": 2]], encoder) == "first_name\r\n1\r\n2\r\n")
        // A key that both a class and its superclass encode counts once.
        #expect(try body([Labelled(superclass: { try $0.encode(["a": "y"]) })]) == "a\r\ny\r\n")
    }

    @Test func duplicateColumnsAreAnError() {
        #expect(
            error([["a": 1]], .csv(columns: ["a", "b", "a"]))
                == CSVEncodingError(.duplicateColumn, row: nil, column: "a"))
        #expect(error([[1, 2]], .csv(columns: ["a", "a"]))?.reason == .duplicateColumn)
        let names = CSVFormat(header: .names(["a", "a"]))
        #expect(error([["a": 1]], .csv(format: names))?.reason == .duplicateColumn)
    }

    @Test(arguments: [
        ("feedURL", "feed_url"), ("myURLLoader", "my_url_loader"), ("ABTest", "ab_test"), ("a1B", "a1_b"),
        ("URL", "url"), ("ÄpfelÖl", "äpfel_öl"), ("plain_name", "plain_name"), ("", ""),
    ])
    func keysBecomeWords(key: String, column: String) throws {
        var encoder = CSVParameterEncoder.csv(columns: [column])
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(try body([[key: 1]], encoder) == (column.isEmpty ? "\"\"" : column) + "\r\n1\r\n")
    }

    @Test func anExistingContentTypeIsKept() throws {
        var request = URLRequest(url: try "http://example.com/".asURL())
        let encoder: any ParameterEncoder = .csv
        #expect(try encoder.encode(Person.people, into: request).headers["Content-Type"] == "text/csv; charset=utf-8")
        request.headers.update(.contentType("application/csv"))
        #expect(try encoder.encode(Person.people, into: request).headers["Content-Type"] == "application/csv")
        #expect(try encoder.encode([Person]?.none, into: request).httpBody == nil)
    }

    /// Parsing returns the rows that were encoded, for any fields and any format.
    @Test(arguments: UInt64(0)..<40)
    func encodedRowsCanBeDecoded(seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        let pieces = ["a", "ä💡", ",", ";", "\"", "'", "\n", "\r\n", "\r", " ", "\t", "#", "", "\u{0}", "\u{FEFF}"]
        let formats = [
            CSVFormat.rows, CSVFormat(delimiter: ";", quote: "'", comment: "#", header: .none, trimsWhitespace: true),
            CSVFormat(delimiter: "\t", header: .none, skipsEmptyLines: false),
        ]
        for _ in 0..<25 {
            let width = Int.random(in: 1...4, using: &numbers)
            let table = (0..<Int.random(in: 1...6, using: &numbers)).map { _ in
                (0..<width).map { _ in
                    (0..<Int.random(in: 0...4, using: &numbers)).map { _ in
                        pieces.randomElement(using: &numbers) ?? ""
                    }.joined()
                }
            }
            let format = try #require(formats.randomElement(using: &numbers))
            let text = try body(table, .csv(format: format))
            #expect(try rows(text, format) == table)
            let size = Int.random(in: 1...9, using: &numbers)
            let pieces = parsed([String].self, Data(text.utf8), CSVDataDecoder(format: format), every: size)
            #expect(try pieces.map { try $0.get() } == table)
        }
    }
}

/// A value that encodes the key `a`. A closure then encodes a value with the encoder for a superclass.
private struct Labelled: Encodable, Sendable {
    enum CodingKeys: CodingKey { case a }
    let superclass: @Sendable (inout any SingleValueEncodingContainer) throws -> Void
    var isListedFirst = false

    func encode(to encoder: any Encoder) throws {
        if isListedFirst {
            var list = encoder.unkeyedContainer()
            try list.encode(0)
        }
        var fields = encoder.container(keyedBy: CodingKeys.self)
        if !isListedFirst { try fields.encode(1, forKey: .a) }
        var value = fields.superEncoder().singleValueContainer()
        try superclass(&value)
    }
}
