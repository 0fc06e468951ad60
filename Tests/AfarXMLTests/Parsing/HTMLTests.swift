import AfarXML
import Foundation
import Testing

@Suite struct HTMLTests {
    @Test func aPageIsRepairedWithWarnings() throws {
        let page = try XML.Document(html: "<p>One<p>Two <b><i>x</b></i>\n<nonsense>&nbsp;")
        #expect(page.root.name == "html")
        #expect(try page.xpath("//p").nodes.map(\.text).first == "One")
        #expect(page.warnings.contains { $0.message.contains("b and i") && $0.line == 1 })
        #expect(page.warnings.contains { $0.message.contains("nonsense") && $0.line == 2 })
        #expect(try XML.Document(html: "<!DOCTYPE html><p>fine</p>").warnings.isEmpty)
    }

    @Test func theNumberOfWarningsIsLimited() throws {
        let page = try XML.Document(html: String(repeating: "</p>", count: 10_000) + "<p>x</p>")
        #expect(page.warnings.count == 100)
        #expect(page.root.text == "x")
    }

    @Test(arguments: ["", " \n", "<!-- -->"]) func anEmptyPageIsAnError(text: String) {
        let error = #expect(throws: XML.Error.self) { _ = try XML.Document(html: text) }
        #expect(error?.kind == .emptyDocument)
    }

    @Test func theContentTypeOverridesTheMetaElementsEncoding() throws {
        let bytes = Data("<meta charset=koi8-r><p>".utf8) + [0xF0] + Data("</p>".utf8)
        #expect(try XML.Document(html: bytes).root.text == "П")
        #expect(try XML.Document(html: bytes, contentType: "text/html; charset=windows-1252").root.text == "ð")
    }

    /// libxml2 compares each attribute with all others before it reports the element.
    @Test func tooManyAttributesAreRejected() throws {
        let page = "<p " + (0..<100_000).map { "a\($0) " }.joined() + ">x"
        let start = ContinuousClock.now
        let error = #expect(throws: XML.Error.self) { _ = try XML.Document(html: page) }
        #expect(error?.kind == .limitExceeded)
        #expect(ContinuousClock.now - start < .seconds(20))
        let most = "<p " + (0..<256).map { "a\($0) " }.joined() + ">x"
        #expect(try XML.Document(html: most).xpath("//p").elements.first?.attributes.count == 256)
    }

    @Test func aPageIsNotTruncatedSilently() throws {
        let page = "<p>\(String(repeating: "x", count: 10_000_100))<b>end</b>"
        let error = #expect(throws: XML.Error.self) { _ = try XML.Document(html: page) }
        #expect(error?.kind == .limitExceeded)
    }
}
