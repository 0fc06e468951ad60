import AfarXML
import Foundation
import Testing

@Suite struct HTMLTests {
    @Test func aPageIsRepairedAndWhatWasWrongIsTold() throws {
        let page = try XML.Document(html: "<p>One<p>Two <b><i>x</b></i>\n<nonsense>&nbsp;")
        #expect(page.root.name == "html")
        #expect(try page.xpath("//p").nodes.map(\.text).first == "One")
        #expect(page.warnings.contains { $0.message.contains("b and i") && $0.line == 1 })
        #expect(page.warnings.contains { $0.message.contains("nonsense") && $0.line == 2 })
        #expect(try XML.Document(html: "<!DOCTYPE html><p>fine</p>").warnings.isEmpty)
    }

    @Test func warningsAreNotWithoutEnd() throws {
        let page = try XML.Document(html: String(repeating: "</p>", count: 10_000) + "<p>x</p>")
        #expect(page.warnings.count == 100)
        #expect(page.root.text == "x")
    }

    @Test(arguments: ["", " \n", "<!-- -->"]) func nothingIsNoPage(text: String) {
        let error = #expect(throws: XML.Error.self) { _ = try XML.Document(html: text) }
        #expect(error?.kind == .emptyDocument)
    }

    @Test func theEncodingIsThatOfTheMetaElementUnlessTheContentTypeHasOne() throws {
        let bytes = Data("<meta charset=koi8-r><p>".utf8) + [0xF0] + Data("</p>".utf8)
        #expect(try XML.Document(html: bytes).root.text == "П")
        #expect(try XML.Document(html: bytes, contentType: "text/html; charset=windows-1252").root.text == "ð")
    }
}
