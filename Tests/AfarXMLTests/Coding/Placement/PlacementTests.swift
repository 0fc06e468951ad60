import AfarXML
import Foundation
import Testing

/// The placement of values in attributes, elements and text.
@Suite struct PlacementTests {
    struct Wrapped: Codable, Equatable {
        @XMLAttribute var id: Int
        @XMLAttribute var rel: String?
        @XMLChild var name: String
        @XMLText var text: String
    }

    @Test func wrappersSetThePlacement() throws {
        let value = try decoded(
            Wrapped.self, #"<Wrapped id="1" name="attribute">own<name>child</name><id>2</id></Wrapped>"#)
        #expect(value == Wrapped(id: 1, rel: nil, name: "child", text: "own"))
        #expect(try encoded(value) == #"<Wrapped id="1"><name>child</name>own</Wrapped>"#)
        #expect(throws: DecodingError.self) { try decoded(Wrapped.self, #"<x id="1" name="attribute"/>"#) }
        #expect(throws: DecodingError.self) { try decoded(Wrapped.self, "<x><id>1</id><name/></x>") }
    }

    @Test func otherCodersUseOnlyTheValue() throws {
        let value = Wrapped(id: 1, rel: nil, name: "a", text: "b")
        let json = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(Wrapped.self, from: json) == value)
        let short = try JSONDecoder().decode(Wrapped.self, from: Data(#"{"id":2,"name":"c","text":"d"}"#.utf8))
        #expect(short == Wrapped(id: 2, rel: nil, name: "c", text: "d"))
    }

    struct Plain: Codable, Equatable {
        var id: Int
        var name: String
        var items: [Int]
    }

    @Test func aMapOfKeysSetsThePlacement() throws {
        let placements: XMLPlacementStrategy = .byName(["id": .attribute, "items": .wrapped(item: "n")])
        let value = Plain(id: 1, name: "a", items: [2, 3])
        let text = try encoded(value, XMLEncoder(placementStrategy: placements))
        #expect(text == #"<Plain id="1"><name>a</name><items><n>2</n><n>3</n></items></Plain>"#)
        let decoder = XMLDecoder(placementStrategy: placements)
        #expect(try decoded(Plain.self, text, decoder) == value)
        #expect(throws: DecodingError.self) { try decoded(Plain.self, "<x><id>1</id><name/></x>", decoder) }
    }

    @Test func aClosureSetsThePlacementByPath() throws {
        struct Outer: Codable, Equatable {
            var id: Int
            var inner: Inner
        }
        struct Inner: Codable, Equatable { var id: Int }
        let placements: XMLPlacementStrategy = .custom { path in
            path.map(\.stringValue) == ["inner", "id"] ? .attribute : .automatic
        }
        let value = Outer(id: 1, inner: Inner(id: 2))
        let text = try encoded(value, XMLEncoder(placementStrategy: placements))
        #expect(text == #"<Outer><id>1</id><inner id="2"/></Outer>"#)
        #expect(try decoded(Outer.self, text, XMLDecoder(placementStrategy: placements)) == value)
    }

    @Test func wrappersOverrideKeysAndKeysOverrideTheStrategy() throws {
        struct Value: Codable, Equatable {
            @XMLChild var a: Int
            var b: Int

            enum CodingKeys: String, XMLCodingKey {
                case a, b
                var placement: XMLPlacement { .attribute }
            }
        }
        let text = try encoded(Value(a: 1, b: 2), XMLEncoder(placementStrategy: .byName(["b": .child])))
        #expect(text == #"<Value b="2"><a>1</a></Value>"#)
        #expect(
            try decoded(Value.self, text, XMLDecoder(placementStrategy: .byName(["b": .child]))) == Value(a: 1, b: 2))
    }

    @Test func anOptionalTextIsNilWithoutAnyText() throws {
        struct Cell: Codable, Equatable {
            @XMLAttribute var id: Int?
            @XMLText var value: Double?
        }
        #expect(try decoded(Cell.self, #"<cell id="1"/>"#) == Cell(id: 1, value: nil))
        #expect(try decoded(Cell.self, #"<cell>1.5</cell>"#) == Cell(id: nil, value: 1.5))
        #expect(try encoded(Cell(id: 1, value: nil)) == #"<Cell id="1"/>"#)
    }
}
