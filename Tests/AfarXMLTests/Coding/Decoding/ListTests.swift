import AfarXML
import Foundation
import Testing

/// Arrays and sets.
@Suite struct ListTests {
    struct Item: Codable, Equatable { var id: Int }
    struct Order: Decodable, Equatable {
        var item: [Item]
        var tag: [String]
    }

    @Test func siblingsWithTheSameNameAreAnArray() throws {
        #expect(try decoded(Order.self, "<order/>") == Order(item: [], tag: []))
        #expect(
            try decoded(Order.self, #"<order><item id="1"/><tag>a</tag></order>"#)
                == Order(item: [Item(id: 1)], tag: ["a"]))
        let interleaved = #"<order><tag>a</tag><item id="1"/><other/><tag>b</tag><item id="2"/><tag>c</tag></order>"#
        #expect(try decoded(Order.self, interleaved) == Order(item: [Item(id: 1), Item(id: 2)], tag: ["a", "b", "c"]))
    }

    @Test func anOptionalArrayIsNilWithoutElements() throws {
        struct Order: Decodable { var item: [Item]? }
        #expect(try decoded(Order.self, "<order/>").item == nil)
        #expect(try decoded(Order.self, #"<order><item id="1"/></order>"#).item == [Item(id: 1)])
    }

    @Test func nilInAnArray() throws {
        struct Order: Decodable { var item: [Int?]? }
        let declaration = #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance""#
        let text = #"<order \#(declaration)><item i:nil="true"/><item>1</item><item i:nil="true"/></order>"#
        #expect(try decoded(Order.self, text).item == [nil, 1, nil])
        #expect(try decoded(Order.self, #"<order \#(declaration)><item i:nil="true"/></order>"#).item == nil)
    }

    @Test func wrappedArraysRequireAWrapper() throws {
        struct Order: Decodable {
            @XMLWrapped var items: [Item]
            @XMLWrapped var tags: [String]?
        }
        let order = try decoded(Order.self, #"<order><items><item id="1"/><entry id="2"/></items></order>"#)
        #expect(order.items == [Item(id: 1), Item(id: 2)])
        #expect(order.tags == nil)
        #expect(try decoded(Order.self, "<order><items/><tags><t>a</t></tags></order>").tags == ["a"])
        #expect(try decoded(Order.self, "<order/>").items.isEmpty)
    }

    @Test func anArraysRootContainsItsElements() throws {
        #expect(try decoded([Item].self, #"<items> <item id="1"/> <item id="2"/> </items>"#).map(\.id) == [1, 2])
        #expect(try decoded([Int].self, "<items/>").isEmpty)
        #expect(try decoded(Set<Int>.self, "<items><i>1</i><i>1</i><i>2</i></items>") == [1, 2])
    }

    @Test func arraysInArrays() throws {
        struct Matrix: Decodable { var row: [[Int]] }
        let matrix = try decoded(Matrix.self, "<m><row><c>1</c><c>2</c></row><row/><row><c>3</c></row></m>")
        #expect(matrix.row == [[1, 2], [], [3]])
    }

    @Test func wordsInAttributesAndText() throws {
        struct Shape: Decodable {
            @XMLAttribute var classes: [String]
            @XMLAttribute var sizes: [Double]?
            @XMLText var points: [Int]
        }
        let shape = try decoded(Shape.self, "<shape classes=' a  b\tc '>1 2<![CDATA[3 ]]> 4</shape>")
        #expect(shape.classes == ["a", "b", "c"])
        #expect(shape.sizes == nil)
        #expect(shape.points == [1, 23, 4])
        #expect(try decoded(Shape.self, "<shape classes=''></shape>").classes.isEmpty)
    }

    @Test func anArrayOfTypesWithCustomDecoding() throws {
        struct Values: Decodable {
            var date: [Date]
            var url: [URL]
            var small: [UInt8]
            var flag: [Bool]
        }
        let values = try decoded(
            Values.self,
            """
            <x><date>1970-01-01</date><date>1970-01-02</date><url>https://a.example/</url><small>255</small>
            <small> 0 </small><flag>1</flag><flag>false</flag></x>
            """)
        #expect(values.date.map(\.timeIntervalSince1970) == [0, 86400])
        #expect(values.url.map(\.absoluteString) == ["https://a.example/"])
        #expect(values.small == [255, 0])
        #expect(values.flag == [true, false])
    }
}
