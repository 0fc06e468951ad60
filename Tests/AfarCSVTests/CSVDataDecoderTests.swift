import AfarCSV
import AfarCore
import AfarSerializers
import Foundation
import HTTPTypes
import Testing

/// Decoding of rows and fields.
@Suite struct CSVDataDecoderTests {
    private func decode<T: Decodable>(
        _ type: T.Type, _ text: String, _ format: CSVFormat = CSVFormat(),
        _ change: (inout CSVDataDecoder) -> Void = { _ in }
    ) throws -> T {
        var decoder = CSVDataDecoder(format: format)
        change(&decoder)
        return try decoder.decode(type, from: Data(text.utf8))
    }

    @Test func rowsAreDecodedByTheNamesOfColumns() throws {
        #expect(try decode([Person].self, Person.csv) == Person.people)
        #expect(try decode([Person]?.self, Person.csv) == Person.people)
        #expect(try decode([Person].self, "age,more,name\n1,x,a\n") == [Person(name: "a", age: 1)])
        #expect(try decode([Person].self, "name,age\n").isEmpty)
        let given = CSVFormat(header: .names(["name", "age"]))
        #expect(try decode([Person].self, "Ada,36\n", given) == [Person(name: "Ada", age: 36)])
    }

    @Test func rowsAreDictionariesListsAndSingleValues() throws {
        #expect(try decode([[String: String]].self, "a,b\n1,2\n") == [["a": "1", "b": "2"]])
        #expect(try decode([[String: Int?]].self, "a,b\n1,\n") == [["a": 1, "b": nil]])
        #expect(try decode([[Int]].self, "a,b\n1,2\n") == [[1, 2]])
        #expect(try decode([[Int?]].self, "a,b\n1,\n") == [[1, nil]])
        #expect(try decode([Int].self, "a\n1\n2\n") == [1, 2])
        #expect(try decode(Set<Int>.self, "a\n1\n1\n") == [1])
        #expect(throws: DecodingError.self) { try decode([Int].self, "a,b\n1,2\n") }
    }

    @Test func withoutNamesKeysAreNumbers() throws {
        struct Pair: Decodable, Equatable {
            enum CodingKeys: Int, CodingKey { case first, second }
            var first: String
            var second: Int
        }
        #expect(try decode([Pair].self, "a,1\n", .rows) == [Pair(first: "a", second: 1)])
        #expect(try decode([[String: String]].self, "a,b\n", .rows) == [["0": "a", "1": "b"]])
        #expect(try decode([[Int: String]].self, "a,b\n", .rows) == [[0: "a", 1: "b"]])
    }

    @Test func keysCanBeConverted() throws {
        struct Name: Decodable, Equatable { var firstName: String }
        #expect(
            try decode([Name].self, "first_name\nAda\n") { $0.keyDecodingStrategy = .convertFromSnakeCase }
                == [Name(firstName: "Ada")])
        #expect(
            try decode([[String: Int]].self, "_a_bC_d_,__,x\n1,2,3\n") {
                $0.keyDecodingStrategy = .convertFromSnakeCase
            } == [["_aBcD_": 1, "__": 2, "x": 3]])
        #expect(
            try decode([Name].self, "FIRSTNAME\nAda\n") {
                $0.keyDecodingStrategy = .custom { $0 == "FIRSTNAME" ? "firstName" : $0 }
            } == [Name(firstName: "Ada")])
        #expect(throws: DecodingError.self) { try decode([Name].self, "FirstName\nAda\n") }
    }

    @Test func scalarsAreRead() throws {
        struct Scalars: Decodable, Equatable {
            enum Kind: String, Decodable { case one, two }
            var int8: Int8
            var large: UInt64
            var huge: Int128
            var more: UInt128?
            var double: Double
            var float: Float
            var decimal: Decimal
            var url: URL
            var data: Data
            var kind: Kind
        }
        let value = try #require(
            try decode(
                [Scalars].self,
                """
                int8,large,huge,more,double,float,decimal,url,data,kind
                -128,18446744073709551615,-170141183460469231731687303715884105728,7,1.5e3,-.25,\
                12345678901234567890.123456789012345678,https://example.com/a,QUJD,two
                """
            ).first)
        #expect(value.int8 == -128)
        #expect(value.large == .max)
        #expect(value.huge == .min)
        #expect(value.more == 7)
        #expect(value.double == 1_500)
        #expect(value.float == -0.25)
        #expect("\(value.decimal)" == "12345678901234567890.123456789012345678")
        #expect(value.url.absoluteString == "https://example.com/a")
        #expect(value.data == Data("ABC".utf8))
        #expect(value.kind == .two)
    }

    @Test func booleanWords() throws {
        #expect(try decode([[Bool]].self, "true,TRUE,Yes,1\n", .rows) == [[true, true, true, true]])
        #expect(try decode([[Bool]].self, "false,False,no,0\n", .rows) == [[false, false, false, false]])
        #expect(throws: DecodingError.self) { try decode([Bool].self, "2\n", .rows) }
    }

    @Test(arguments: ["0x10", "inf", "nan", "1e999", "1,5", "1 ", "", "--1", "1.2.3", "e", "."])
    func invalidNumbersAreErrors(text: String) {
        let csv = "a,b\n\"\(text)\",x\n"
        struct Number<T: Decodable>: Decodable { var a: T }
        #expect(throws: DecodingError.self) { try decode([Number<Double>].self, csv) }
        #expect(throws: DecodingError.self) { try decode([Number<Float>].self, csv) }
        #expect(throws: DecodingError.self) { try decode([Number<Int>].self, csv) }
        #expect(throws: DecodingError.self) { try decode([Number<Decimal>].self, csv) }
    }

    @Test func decimalsAreExactOrAnError() throws {
        let exact = ["0.1", "-99999999999999999999999999999999999999", "1e10", "1e-100", "007.50", "+5"]
        for text in exact {
            let value = try #require(try decode([Decimal].self, "\(text)\n", .rows).first)
            #expect(value == Decimal(string: text))
        }
        for text in ["1.00000000000000000000000000000000000000001", "1e200", "1e-200", "1e99999999999999999999"] {
            #expect(throws: DecodingError.self) { try decode([Decimal].self, "\(text)\n", .rows) }
        }
    }

    @Test func theDecimalSeparatorCanBeAComma() throws {
        var format = CSVFormat.semicolonSeparated
        format.header = .none
        #expect(try decode([[Double]].self, "1,5;-2,25e1\n", format) == [[1.5, -22.5]])
        #expect(throws: DecodingError.self) { try decode([[Double]].self, "1.5\n", format) }
    }

    @Test func datesAreDecodedByTheStrategy() throws {
        let noon = Date(timeIntervalSince1970: 1_714_996_800)
        let iso = "2024-05-06T12:00:00Z,2024-05-06T14:00:00+02:00,2024-05-06T12:00:00.500Z,2024-05-06\n"
        #expect(
            try decode([[Date]].self, iso, .rows)
                == [[noon, noon, noon.addingTimeInterval(0.5), noon.addingTimeInterval(-43_200)]])
        #expect(
            try decode([Date].self, "1714996800\n", .rows) { $0.dateDecodingStrategy = .secondsSince1970 } == [noon])
        #expect(
            try decode([Date].self, "1714996800000\n", .rows) { $0.dateDecodingStrategy = .millisecondsSince1970 }
                == [noon])
        #expect(
            try decode([Date].self, "x\n", .rows) { $0.dateDecodingStrategy = .custom { _ in noon } } == [noon])
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "dd.MM.yyyy HH:mm"
        #expect(
            try decode([Date].self, "06.05.2024 12:00\n", .rows) { $0.dateDecodingStrategy = .formatted(formatter) }
                == [noon])
        for text in ["", "today", "2024-13-01", "2024-05-06T12:00:00", "99999999999-01-01"] {
            #expect(throws: DecodingError.self) { try decode([[Date]].self, "\(text),\n", .rows) }
        }
    }

    @Test func nilIsDecodedByTheStrategy() throws {
        struct Row: Decodable, Equatable { var a: String?, b: String? }
        let csv = "a,b\n,\"\"\n"
        #expect(try decode([Row].self, csv) == [Row(a: nil, b: nil)])
        #expect(
            try decode([Row].self, csv) { $0.nilDecodingStrategy = .emptyUnquotedField } == [Row(a: nil, b: "")])
        #expect(
            try decode([Row].self, "a,b\nNULL,\n") { $0.nilDecodingStrategy = .anyOf(["NULL"]) }
                == [Row(a: nil, b: "")])
        #expect(try decode([[String]].self, csv) == [["", ""]])
    }

    @Test func missingFieldsOfUnevenRowsAreNil() throws {
        let format = CSVFormat(allowsUnevenRows: true)
        #expect(try decode([Person].self, "name,age,email\na,1\n", format) == [Person(name: "a", age: 1)])
        let error = #expect(throws: DecodingError.self) { try decode([Person].self, "name,age,email\na\n", format) }
        guard case .keyNotFound(let key, let context) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(key.stringValue == "age")
        #expect(context.debugDescription.contains("line 2"))
    }

    @Test func decodingErrorsNameTheRowColumnAndLine() {
        let error = #expect(throws: DecodingError.self) {
            try decode([Person].self, "name,age\n\"a\nb\",1\n\nc,old\n")
        }
        guard case .typeMismatch(_, let context) = error else {
            Issue.record("unexpected error: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["1", "age"])
        #expect(context.codingPath.first?.intValue == 1)
        #expect(
            context.debugDescription == """
                The field is not an integer from \(Int.min) to \(Int.max). (line 5)
                """)
    }

    /// Errors are often logged, so they must not contain the fields' contents.
    @Test func decodingErrorsDoNotContainFields() {
        enum Kind: String, Decodable { case one }
        let secret = "sk_live_51H!"
        func words<T: Decodable>(_ type: T.Type) -> String {
            do {
                return "no error: \(try decode([T].self, "\(secret)\n", .rows))"
            } catch {
                return "\(error) \(error.localizedDescription)"
            }
        }
        let errors = [
            words(Data.self), words(Int.self), words(Double.self), words(Decimal.self), words(Bool.self),
            words(Date.self), words([String: [Int]].self), words([[Int]].self), words(Kind.self), words([Kind?].self),
        ]
        for error in errors {
            #expect(error.contains("line 1"))
            #expect(!error.contains("sk_live"))
        }
    }

    @Test func duplicateColumnsAreAnErrorOnlyIfDecoded() throws {
        let csv = "name,x,age,x\na,1,2,3\n"
        #expect(try decode([Person].self, csv) == [Person(name: "a", age: 2)])
        #expect(throws: DecodingError.self) { try decode([[String: String]].self, csv) }
    }

    @Test func nestedValuesInFieldsAreErrors() {
        struct Nested: Decodable { var name: [Int] }
        struct Deep: Decodable { var name: [String: Int] }
        #expect(throws: DecodingError.self) { try decode([Nested].self, "name\n1\n") }
        #expect(throws: DecodingError.self) { try decode([Deep].self, "name\n1\n") }
        #expect(throws: DecodingError.self) { try decode(Person.self, Person.csv) }
        #expect(throws: DecodingError.self) { try decode(String.self, Person.csv) }
    }

    @Test func aMissingHeaderIsAnError() {
        for text in ["", "\r\n\r\n", "\u{FEFF}"] {
            let error = #expect(throws: CSVError.self) { try decode([Person].self, text) }
            #expect(error?.reason == .missingHeader)
        }
    }

    @Test func aClassAndItsSuperclassShareTheRow() throws {
        class Animal: Decodable { var name = "" }
        final class Dog: Animal {
            enum CodingKeys: CodingKey { case tricks }
            let tricks: Int
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                tricks = try container.decode(Int.self, forKey: .tricks)
                try super.init(from: container.superDecoder())
            }
        }
        let dog = try #require(try decode([Dog].self, "name,tricks\nRex,3\n").first)
        #expect(dog.name == "Rex")
        #expect(dog.tricks == 3)
    }

    @Test func anInvalidRowCanBeSkipped() throws {
        /// A list that drops invalid rows.
        struct Lossy: Decodable {
            var people: [Person] = []
            init(from decoder: any Decoder) throws {
                var rows = try decoder.unkeyedContainer()
                while !rows.isAtEnd {
                    if let person = try? rows.decode(Person.self) { people.append(person) }
                }
            }
        }
        let lossy = try decode(Lossy.self, "name,age\na,1\nb,x\nc\n\"d\"e,4\nf,5\n")
        #expect(lossy.people.map(\.name) == ["a", "f"])
    }

    @Test func anInvalidRowCanBeDecodedAsAnotherType() throws {
        struct Skipped: Decodable {}
        /// A list that skips and counts invalid rows.
        struct Lossy<Element: Decodable>: Decodable {
            var elements: [Element] = []
            var errors = 0
            init(from decoder: any Decoder) throws {
                var rows = try decoder.unkeyedContainer()
                while !rows.isAtEnd {
                    do {
                        elements.append(try rows.decode(Element.self))
                    } catch {
                        errors += 1
                        _ = try? rows.decode(Skipped.self)
                    }
                }
            }
        }
        let numbers = try decode(Lossy<Int>.self, "1\nx\n3\n4\ny\nz\n", .rows)
        #expect(numbers.elements == [1, 3, 4])
        #expect(numbers.errors == 3)
        #expect(try decode(Lossy<Int>.self, "1\n\"x\"y\n3\n4\n", .rows).elements == [1, 3, 4])

        enum Mixed: Decodable, Equatable {
            case number(Int), word(String)
        }
        struct Alternatives: Decodable {
            var values: [Mixed] = []
            init(from decoder: any Decoder) throws {
                var rows = try decoder.unkeyedContainer()
                while !rows.isAtEnd {
                    let index = rows.currentIndex
                    if let number = try? rows.decode(Int.self) {
                        values.append(.number(number))
                    } else {
                        #expect(rows.currentIndex == index)
                        values.append(.word(try rows.decode(String.self)))
                    }
                }
            }
        }
        #expect(
            try decode(Alternatives.self, "1\nx\n3\ny\n", .rows).values == [
                .number(1), .word("x"), .number(3), .word("y"),
            ])
    }

    @Test func decodingBeyondTheLastRowIsAnError() throws {
        struct Reader: Decodable {
            init(from decoder: any Decoder) throws {
                enum Key: CodingKey { case a }
                var rows = try decoder.unkeyedContainer()
                var row = try rows.nestedUnkeyedContainer()
                let number = try row.decode(Int.self)
                #expect(number == 1)
                #expect(rows.isAtEnd)
                let attempts: [() throws -> Void] = [
                    { _ = try rows.decode(Int.self) }, { _ = try rows.nestedContainer(keyedBy: Key.self) },
                    { _ = try rows.nestedUnkeyedContainer() }, { _ = try rows.superDecoder() },
                ]
                for attempt in attempts {
                    let error = #expect(throws: DecodingError.self) { try attempt() }
                    guard case .valueNotFound(_, let context) = error else {
                        Issue.record("unexpected error: \(String(describing: error))")
                        continue
                    }
                    #expect(context.codingPath.first?.intValue == 1)
                }
            }
        }
        _ = try decode(Reader.self, "1\n", .rows)
    }

    @Test func aRowCanBeDecodedAsASubclass() throws {
        class Base: Decodable { var name = "" }
        class Sub: Base {}
        struct Rows: Decodable {
            var row: Base
            init(from decoder: any Decoder) throws {
                let type: Base.Type = Sub.self
                var rows = try decoder.unkeyedContainer()
                row = try rows.decode(type)
            }
        }
        class Field: Decodable {
            let text: String
            required init(from decoder: any Decoder) throws {
                text = try decoder.singleValueContainer().decode(String.self)
            }
        }
        class SubField: Field {}
        struct Fields: Decodable {
            var field: Field
            init(from decoder: any Decoder) throws {
                let type: Field.Type = SubField.self
                // The standard library's keyed containers would decode the static type.
                var fields = try decoder.unkeyedContainer()
                field = try fields.decode(type)
            }
        }
        class Table: Decodable {
            var rows: [Person]
            required init(from decoder: any Decoder) throws { rows = try [Person](from: decoder) }
        }
        class SubTable: Table {}
        struct Wrapped: Decodable {
            var table: Table
            init(from decoder: any Decoder) throws {
                let type: Table.Type = SubTable.self
                table = try decoder.singleValueContainer().decode(type)
            }
        }
        #expect(try decode(Rows.self, "name\nRex\n").row is Sub)
        #expect(try decode([Fields].self, "name\nRex\n").first?.field is SubField)
        let type: Table.Type = SubTable.self
        #expect(try decode(type, Person.csv) is SubTable)
        #expect(try decode(Wrapped.self, Person.csv).table is SubTable)
    }

    @Test(arguments: ["utf-8", "utf-16le", "utf-16be", "windows-1252", "iso-8859-15"])
    func theResponsesCharsetIsUsed(charset: String) throws {
        let encoding = try #require(TextEncoding(label: charset))
        let text = "name,age\n\"Zoë\nßä\",1\n"
        let data = try #require(encoding.stringEncoding.flatMap { text.data(using: $0) })
        let head = ResponseHead(
            status: 200, fields: [.contentType: "text/csv; charset=\(charset)"], url: "http://localhost/")
        #expect(try CSVDataDecoder().decode([Person].self, from: data, of: head) == [Person(name: "Zoë\nßä", age: 1)])
        #expect(
            try CSVDataDecoder(encoding: encoding).decode([Person].self, from: data) == [
                Person(name: "Zoë\nßä", age: 1)
            ])
    }

    @Test func aByteOrderMarkDeterminesTheEncoding() throws {
        let text = "\u{FEFF}name,age\nZoë,1\n"
        for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            let data = try #require(text.data(using: encoding))
            #expect(try CSVDataDecoder().decode([Person].self, from: data) == [Person(name: "Zoë", age: 1)])
        }
    }

    @Test func malformedBytesAreAnErrorOfTheirRow() throws {
        let data = Data("name,age\n".utf8) + [0x61, 0xFF, 0x2C, 0x31, 0x0A] + Data("b,2\n".utf8)
        let results = parsed(Person.self, data, CSVDataDecoder(), every: 3)
        #expect(results.map { (try? $0.get())?.name } == [nil, "b"])
        #expect(throws: DecodingError.self) { try CSVDataDecoder().decode([Person].self, from: data) }
        let japanese = CSVDataDecoder(encoding: .shiftJIS)
        let other = parsed(
            Person.self, Data("name,age\n".utf8) + [0x81, 0x20, 0x2C, 0x31, 0x0A, 0x62, 0x2C, 0x32], japanese, every: 2)
        #expect(other.map { (try? $0.get())?.name } == [nil, "b"])
        let header = #expect(throws: CSVError.self) {
            try CSVDataDecoder().decode([Person].self, from: Data([0xFF, 0x0A]))
        }
        #expect(header == CSVError(.malformedHeader(.utf8), line: 1, column: 1))
    }

    @Test func anUnknownCharsetIsAnErrorUnlessTheTextIsUTF8() throws {
        let head = ResponseHead(
            status: 200, fields: [.contentType: "text/csv; charset=klingon"], url: "http://localhost/")
        let (text, other) = (Data(Person.csv.utf8), Data([0xE9]) + Data(Person.csv.utf8))
        #expect(try CSVDataDecoder().decode([Person].self, from: text, of: head).first?.name == "Ada")
        #expect(throws: TextDecodingError.self) {
            try CSVDataDecoder().decode([Person].self, from: other, of: head)
        }
        var parser = CSVRowsParser<Person>()
        parser.begin(head)
        #expect(parser.parse(other).count == 1)
        #expect(parser.parse(other).isEmpty)
        #expect(parser.finish().isEmpty)
    }
}
