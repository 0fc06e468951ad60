import AfarXML
import Foundation
import Testing

/// Enums whose cases are elements.
@Suite struct ChoiceTests {
    struct Circle: Codable, Equatable { @XMLAttribute var r: Double }

    enum Shape: Codable, Equatable {
        case circle(Circle)
        case square(side: Int)
        case label(String)
        case nothing
    }

    enum Block: Codable, Equatable, XMLChoice {
        case circle(Circle)
        case square(side: Int)
        case label(String)
        case group([Block])
        case rule
        case text(String)

        enum CodingKeys: String, CodingKey {
            case circle, square, label, group, rule
            case text = "#text"
        }
    }

    struct Page: Codable, Equatable {
        var title: String
        var blocks: [Block]
    }

    @Test func theChildElementDeterminesTheCase() throws {
        struct Drawing: Codable, Equatable { var shape: [Shape] }
        let text =
            "<Drawing><shape><circle r=\"1.5\"/></shape><shape><square><side>2</side></square></shape>"
            + "<shape><label>a</label></shape><shape><nothing/></shape></Drawing>"
        let drawing = try decoded(Drawing.self, text)
        #expect(drawing.shape == [.circle(Circle(r: 1.5)), .square(side: 2), .label("a"), .nothing])
        #expect(try encoded(drawing) == text)
    }

    @Test func moreThanOneCaseIsAnError() throws {
        let error = #expect(throws: DecodingError.self) {
            try decoded(Shape.self, "<shape><nothing/><label>a</label></shape>")
        }
        #expect(error?.context?.debugDescription.contains("/shape, line 1") == true)
    }

    @Test func interleavedElementsKeepTheirOrder() throws {
        let text =
            "<Page><title>a</title><circle r=\"1.0\"/><label>x</label><circle r=\"2.0\"/><group><rule/><label>y</label></group>"
            + "<square><side>3</side></square><rule/></Page>"
        let page = try decoded(Page.self, text)
        #expect(
            page.blocks == [
                .circle(Circle(r: 1)), .label("x"), .circle(Circle(r: 2)), .group([.rule, .label("y")]),
                .square(side: 3), .rule,
            ])
        #expect(try encoded(page) == text)
    }

    @Test func textBetweenElementsCanBeACase() throws {
        let text = "<Page><title>a</title>one <label>two</label> &amp; <![CDATA[three]]><rule/>\n</Page>"
        let page = try decoded(Page.self, text)
        #expect(page.blocks == [.text("one "), .label("two"), .text(" & three"), .rule])
        #expect(try decoded(Page.self, encoded(page)) == page)
    }

    @Test func unknownCasesAreSkipped() throws {
        let page = try decoded(Page.self, "<Page><unknown/><rule/><title>a</title><other>text</other></Page>")
        #expect(page == Page(title: "a", blocks: [.rule]))
        #expect(try decoded(Page.self, "<Page><title/></Page>").blocks.isEmpty)
    }

    @Test func oneChoiceInAnElement() throws {
        struct Holder: Codable, Equatable {
            var id: Int
            var block: Block
            var other: Shape?
        }
        let holder = try decoded(Holder.self, "<Holder><id>1</id><square><side>3</side></square></Holder>")
        #expect(holder == Holder(id: 1, block: .square(side: 3), other: nil))
        #expect(try encoded(holder) == "<Holder><id>1</id><square><side>3</side></square></Holder>")
        let error = #expect(throws: DecodingError.self) { try decoded(Holder.self, "<Holder><id>1</id></Holder>") }
        guard case .keyNotFound(let key, _)? = error else { throw error ?? .empty }
        #expect(key.stringValue == "block")
    }

    @Test func anOptionalChoiceIsNilWithoutItsElements() throws {
        struct Holder: Codable, Equatable {
            var block: Block?
            var blocks: [Block]?
        }
        #expect(try decoded(Holder.self, "<x><unknown/></x>") == Holder(block: nil, blocks: nil))
        #expect(try decoded(Holder.self, "<x><rule/></x>") == Holder(block: .rule, blocks: [.rule]))
        #expect(try encoded(Holder(block: nil, blocks: nil)) == "<Holder/>")
    }

    @Test func aDocumentIsAChoiceOrAListOfSome() throws {
        #expect(try decoded(Block.self, "<circle r='2'/>") == .circle(Circle(r: 2)))
        #expect(try encoded(Block.square(side: 1)) == "<square><side>1</side></square>")
        #expect(try decoded([Block].self, "<body><rule/>a<rule/></body>") == [.rule, .text("a"), .rule])
        #expect(try encoded([Block.rule, .label("a")]) == "<root><rule/><label>a</label></root>")
        #expect(throws: EncodingError.self) { try encoded(Block.text("a")) }
        #expect(throws: DecodingError.self) { try decoded(Block.self, "<unknown/>") }
    }

    @Test func choicesInASeparateElement() throws {
        struct Chapter: Codable, Equatable { @XMLWrapped var body: [Block] }
        let text = "<Chapter><body><rule/><label>a</label></body></Chapter>"
        let chapter = try decoded(Chapter.self, text)
        #expect(chapter.body == [.rule, .label("a")])
        #expect(try encoded(chapter) == text)
    }

    @Test func anErrorInACaseIsNotIgnored() throws {
        let error = #expect(throws: DecodingError.self) {
            try decoded(Page.self, "<Page><title/>\n<circle r='big'/></Page>")
        }
        #expect(error?.context?.debugDescription.contains("/Page/circle/@r, line 2") == true)
        #expect(error?.context?.codingPath.map(\.stringValue) == ["blocks", "0", "circle", "_0", "r"])
    }
}
