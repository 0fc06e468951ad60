import AfarXML
import Foundation
import Testing

/// The encoder's output.
@Suite struct EncoderTests {
    struct Item: Codable, Equatable {
        @XMLAttribute var id: Int
        var name: String
    }
    struct Order: Codable, Equatable {
        var number: Int
        var item: [Item]
        var note: String?
    }

    private let order = Order(number: 7, item: [Item(id: 1, name: "a"), Item(id: 2, name: "b")], note: nil)

    @Test func aDocumentIsInUTF8WithADeclaration() throws {
        let data = try XMLEncoder().encode(["a": "ä€𝄞"])
        #expect(
            String(decoding: data, as: UTF8.self)
                == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<root><a>ä€𝄞</a></root>")
        #expect(try decoded([String: String].self, String(decoding: data, as: UTF8.self)) == ["a": "ä€𝄞"])
    }

    @Test func theRootIsNamedAfterTheType() throws {
        #expect(
            try encoded(order)
                == #"<Order><number>7</number><item id="1"><name>a</name></item><item id="2"><name>b</name></item></Order>"#
        )
        #expect(try encoded(order, XMLEncoder(rootName: "o")).hasPrefix("<o><number>"))
        #expect(try encoded([1, 2]) == "<root><item>1</item><item>2</item></root>")
        #expect(try encoded(5, XMLEncoder(rootName: "n")) == "<n>5</n>")
        #expect(try encoded([[1], []], XMLEncoder(rootName: "m", itemName: "c")) == "<m><c><c>1</c></c><c/></m>")
    }

    @Test func nilIsOmittedOrMarked() throws {
        struct Values: Codable, Equatable {
            var a: Int?
            var b: String?
            @XMLAttribute var c: Int?
            var d: [Int?]
            var e: Item?
        }
        let values = Values(a: nil, b: nil, c: nil, d: [1, nil], e: nil)
        let xsi = #"xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#
        #expect(try encoded(values) == #"<Values \#(xsi)><d>1</d><d xsi:nil="true"/></Values>"#)
        let text = try encoded(values, XMLEncoder(nilEncodingStrategy: .xsiNil))
        #expect(
            text == """
                <Values \(xsi)><a xsi:nil="true"/><b xsi:nil="true"/><d>1</d><d xsi:nil="true"/><e xsi:nil="true"/></Values>
                """)
        #expect(try decoded(Values.self, text) == values)
        #expect(
            try encoded(Int?.none, XMLEncoder(rootName: "x", nilEncodingStrategy: .xsiNil))
                == #"<x \#(xsi) xsi:nil="true"/>"#)
    }

    @Test func prettyPrintingIndentsElementsButNoText() throws {
        struct Paragraph: Codable, Equatable {
            @XMLText var text: String
            var b: String
        }
        struct Page: Codable, Equatable {
            var order: Order
            var p: Paragraph
            var empty: [Int]
        }
        let page = Page(
            order: Order(number: 1, item: [Item(id: 1, name: " a ")], note: ""), p: Paragraph(text: "x", b: "y"),
            empty: [])
        let text = try encoded(page, XMLEncoder(outputFormatting: .prettyPrinted))
        #expect(
            text == """
                <Page>
                  <order>
                    <number>1</number>
                    <item id="1">
                      <name> a </name>
                    </item>
                    <note/>
                  </order>
                  <p>x<b>y</b></p>
                </Page>

                """)
        #expect(try decoded(Page.self, text) == page)
    }

    @Test func keysCanBeSorted() throws {
        let dictionary = Dictionary(uniqueKeysWithValues: (10..<30).map { ("k\($0)", $0) })
        let encoder = XMLEncoder(outputFormatting: .sortedKeys)
        let expected = (10..<30).map { "<k\($0)>\($0)</k\($0)>" }.joined()
        #expect(try encoded(dictionary, encoder) == "<root>\(expected)</root>")
        struct Lists: Encodable {
            var b = [2, 1]
            var a = 1
            @XMLAttribute var z = 1
            @XMLAttribute var y = 2
        }
        #expect(try encoded(Lists(), encoder) == #"<Lists y="2" z="1"><a>1</a><b>2</b><b>1</b></Lists>"#)
    }

    @Test func listsInAttributesAreWords() throws {
        struct Shape: Codable, Equatable {
            @XMLAttribute var classes: [String]
            @XMLAttribute var empty: [Int]
            @XMLText var points: [Double]
        }
        let shape = Shape(classes: ["a", "b<"], empty: [], points: [1, 2.5])
        let text = try encoded(shape)
        #expect(text == #"<Shape classes="a b&lt;">1.0 2.5</Shape>"#)
        #expect(try decoded(Shape.self, text) == shape)
        for words in [["a b"], [""], ["\t"]] {
            #expect(throws: EncodingError.self) { try encoded(Shape(classes: words, empty: [], points: [])) }
        }
    }

    @Test func anAttributeCanContainOnlyText() {
        struct Wrong: Encodable { @XMLAttribute var item = Item(id: 1, name: "a") }
        let error = #expect(throws: EncodingError.self) { try encoded(Wrong()) }
        #expect(error?.context?.codingPath.map(\.stringValue) == ["item"])
        struct Twice: Encodable {
            enum Keys: CodingKey { case a }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(XMLAttribute(wrappedValue: 1), forKey: .a)
                try container.encode(XMLAttribute(wrappedValue: 2), forKey: .a)
            }
        }
        #expect(throws: EncodingError.self) { try encoded(Twice()) }
        #expect(throws: EncodingError.self) { try encoded([["xmlns": XMLAttribute(wrappedValue: "urn:a")]]) }
    }

    @Test func valuesHaveTheFormsOfXMLSchema() throws {
        #expect(
            try encoded([Double.infinity, -.infinity, .nan, 1e30])
                == "<root><item>INF</item><item>-INF</item><item>NaN</item><item>1e+30</item></root>")
        #expect(try encoded([true, false]) == "<root><item>true</item><item>false</item></root>")
        #expect(try encoded([Data("hello".utf8)]) == "<root><item>aGVsbG8=</item></root>")
        let hexadecimal = XMLEncoder(dataEncodingStrategy: .hexadecimal)
        #expect(try encoded([Data([0, 255])], hexadecimal) == "<root><item>00FF</item></root>")
        let deferred = XMLEncoder(dataEncodingStrategy: .deferredToData)
        #expect(try encoded([Data([1])], deferred) == "<root><item><item>1</item></item></root>")
        let custom = XMLEncoder(
            dateEncodingStrategy: .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode("day \(Int(date.timeIntervalSince1970 / 86400))")
            },
            dataEncodingStrategy: .custom { data, encoder in try data.count.encode(to: encoder) })
        struct Both: Encodable {
            @XMLAttribute var date = Date(timeIntervalSince1970: 86400)
            var data = Data([1, 2])
        }
        #expect(try encoded(Both(), custom) == #"<Both date="day 1"><data>2</data></Both>"#)
        let milliseconds = XMLEncoder(dateEncodingStrategy: .millisecondsSince1970)
        #expect(try encoded([Date(timeIntervalSince1970: 1.5)], milliseconds) == "<root><item>1500.0</item></root>")
    }

    @Test func aDecimalNaNIsAnError() {
        let error = #expect(throws: EncodingError.self) { try encoded(["a": Decimal.nan]) }
        #expect(error?.context?.codingPath.map(\.stringValue) == ["a"])
    }

    @Test func aTypesErrorIsForwarded() {
        struct Refusal: Error {}
        struct Strict: Encodable { func encode(to encoder: any Encoder) throws { throw Refusal() } }
        #expect(throws: Refusal.self) { try encoded(["a": [Strict()]]) }
    }

    @Test func aTypeWithoutFieldsIsAnEmptyElement() throws {
        struct Empty: Codable, Equatable {}
        struct Silent: Encodable { func encode(to encoder: any Encoder) {} }
        struct Holder: Codable, Equatable { var empty = [Empty(), Empty()] }
        #expect(try encoded(Holder()) == "<Holder><empty/><empty/></Holder>")
        #expect(try decoded(Holder.self, encoded(Holder())) == Holder())
        #expect(try encoded(["a": Silent()]) == "<root><a/></root>")
    }
}

extension EncodingError {
    /// The context of any kind of encoding error.
    var context: Context? {
        switch self {
        case .invalidValue(_, let context): context
        @unknown default: nil
        }
    }
}
