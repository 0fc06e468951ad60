import AfarXML
import Foundation
import Testing

/// Mapping of keys to attributes and child elements.
@Suite struct MappingTests {
    struct Book: Decodable, Equatable {
        var title: String
        var id: Int
        var note: String?
    }

    @Test func aKeyIsAnElementOrAnAttribute() throws {
        let book = try decoded(Book.self, #"<book id="7" title="attribute"><title>element</title></book>"#)
        #expect(book == Book(title: "element", id: 7, note: nil))
    }

    @Test func theOrderOfElementsDoesNotMatter() throws {
        struct Letters: Decodable, Equatable { var a, b, c, d: String }
        let expected = Letters(a: "1", b: "2", c: "3", d: "4")
        for order in ["abcd", "dcba", "bdac", "cadb"] {
            let values = ["a": 1, "b": 2, "c": 3, "d": 4]
            let text = order.map { "<\($0)>\(values["\($0)"] ?? 0)</\($0)>" }.joined()
            #expect(try decoded(Letters.self, "<x>\(text)</x>") == expected)
        }
    }

    @Test func theFirstOfManyIsUsed() throws {
        struct Pair: Decodable, Equatable { var b, a: String }
        #expect(try decoded(Pair.self, "<x><a>1</a><b>2</b><a>3</a></x>") == Pair(b: "2", a: "1"))
    }

    @Test func textWithAttributes() throws {
        struct Price: Decodable, Equatable {
            var currency: String
            var amount: Decimal
            enum CodingKeys: String, CodingKey {
                case currency
                case amount = "#text"
            }
        }
        let price = try decoded(Price.self, #"<price currency="EUR"> 12.50 </price>"#)
        #expect(price == Price(currency: "EUR", amount: Decimal(string: "12.50") ?? 0))
    }

    @Test func absentAndNilElementsAreNil() throws {
        struct Two: Decodable, Equatable {
            var number: Int?
            var text: String?
        }
        let nothing = Two(number: nil, text: nil)
        #expect(try decoded(Two.self, "<x/>") == nothing)
        let declaration = #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance""#
        #expect(try decoded(Two.self, #"<x \#(declaration)><number i:nil="true"/><text i:nil=" 1 "/></x>"#) == nothing)
        #expect(try decoded(Two.self, #"<x \#(declaration)><text i:nil="false">a</text></x>"#).text == "a")
        // A `nil` attribute in another namespace has no special meaning.
        #expect(try decoded(Two.self, #"<x xmlns:i="urn:i"><text i:nil="true">a</text></x>"#).text == "a")
    }

    @Test func anEmptyElementIsEmptyText() throws {
        #expect(
            try decoded(Book.self, #"<book id="1"><title/><note></note></book>"#) == Book(title: "", id: 1, note: ""))
    }

    @Test func nilForARequiredValueIsAnError() throws {
        let text = """
            <book xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><id>1</id>
            <title i:nil="true"/></book>
            """
        let error = #expect(throws: DecodingError.self) { try decoded(Book.self, text) }
        guard case .valueNotFound(let type, let context)? = error else { throw error ?? .empty }
        #expect(type is String.Type)
        #expect(context.debugDescription.contains("/book/title, line 2"))
    }

    @Test func textPartsAreJoined() throws {
        struct Text: Decodable { var text: String }
        let text = "<x><text>a &amp; b<!-- c --><![CDATA[ <d> ]]>&#101;</text></x>"
        #expect(try decoded(Text.self, text).text == "a & b <d> e")
        #expect(try decoded(Text.self, "<x><text>one <b>two</b> three</text></x>").text == "one two three")
    }

    @Test func ownTextExcludesThatOfElements() throws {
        struct Mixed: Decodable {
            @XMLText var own: String
            var b: String
        }
        let mixed = try decoded(Mixed.self, "<p>one <b>two</b> three</p>")
        #expect(mixed.own == "one  three")
        #expect(mixed.b == "two")
    }

    @Test func whiteSpaceIsSignificantOnlyInStrings() throws {
        struct Values: Decodable {
            var text: String
            var number: Int
            var flag: Bool
        }
        let values = try decoded(Values.self, "<x><text> a\n</text><number>\n 4\t</number><flag> true </flag></x>")
        #expect(values.text == " a\n")
        #expect(values.number == 4)
        #expect(values.flag)
    }

    @Test func dictionariesHaveTheNamesAsKeys() throws {
        #expect(
            try decoded([String: String].self, #"<x id="1"><a>2</a><b>3</b></x>"#) == ["id": "1", "a": "2", "b": "3"])
        #expect(try decoded([String: String].self, #"<x id="1">text</x>"#) == ["id": "1", "#text": "text"])
        let lists = try decoded([String: [Int]].self, "<x><a>1</a><b>2</b><a>3</a></x>")
        #expect(lists == ["a": [1, 3], "b": [2]])
        let nested = try decoded([String: [String: Int]].self, #"<x><a p="1"/><b><q>2</q></b></x>"#)
        #expect(nested == ["a": ["p": 1], "b": ["q": 2]])
    }

    @Test func aLongDictionaryIsDecodedQuickly() throws {
        let names = (0..<20_000).map { "n\($0)" }
        let text = names.map { #"<p:\#($0)>1</p:\#($0)><p:\#($0)>2</p:\#($0)>"# }.joined()
        let lists = try decoded([String: [Int]].self, #"<x xmlns:p="urn:p">\#(text)</x>"#)
        #expect(lists.count == 20_000)
        #expect(lists["n19999"] == [1, 2])
    }

    @Test func enumsWithRawValues() throws {
        enum Level: String, Decodable { case low, high }
        enum Code: Int, Decodable { case one = 1 }
        struct Values: Decodable {
            var level: Level
            var code: Code
            var codes: [Code]
        }
        let values = try decoded(Values.self, #"<x code=" 1 "><level>high</level><codes>1</codes></x>"#)
        #expect(values.level == .high)
        #expect(values.code == .one)
        #expect(values.codes == [.one])
        let error = #expect(throws: DecodingError.self) {
            try decoded(Values.self, "<x><code>1</code>\n<level>middle</level></x>")
        }
        #expect(error?.context?.debugDescription.contains("/x/level, line 2") == true)
    }

    @Test func theRootsNameIsCheckedOnRequest() throws {
        let decoder = XMLDecoder(rootName: "book")
        let namespaced = #"<b:book xmlns:b="urn:b" id="1"><title>a</title></b:book>"#
        #expect(try decoded(Book.self, namespaced, decoder).id == 1)
        let error = #expect(throws: DecodingError.self) { try decoded(Book.self, "<error/>", decoder) }
        #expect(error?.context?.debugDescription == "Expected an element book, found error at /error, line 1.")
    }

    @Test func anElementInsideOfADocumentIsDecoded() throws {
        let document = try XML.Document(Data(#"<library><book id="1"><title>a</title></book></library>"#.utf8))
        let element = try #require(document.root.first(named: "book"))
        #expect(try XMLDecoder().decode(Book.self, from: element) == Book(title: "a", id: 1, note: nil))
    }

    @Test func singleValuesAtTheTop() throws {
        #expect(try decoded(Int.self, "<x> 5 </x>") == 5)
        #expect(try decoded(String.self, "<x>a</x>") == "a")
        #expect(try decoded(Int?.self, "<x>5</x>") == 5)
        let isNil = #"<x xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"/>"#
        #expect(try decoded(Int?.self, isNil) == nil)
    }
}

extension DecodingError {
    /// A placeholder for tests that expect another error.
    static var empty: DecodingError { .dataCorrupted(Context(codingPath: [], debugDescription: "no error")) }
}
