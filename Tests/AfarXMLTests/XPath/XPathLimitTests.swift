import AfarXML
import Foundation
import Testing

/// Expressions that take a long time to evaluate, with suitable documents.
@Suite struct XPathLimitTests {
    private func error(
        _ expression: String, in document: XML.Document, maximumSteps: Int = 10_000_000
    ) -> XML.Error? {
        #expect(throws: XML.Error.self, "\(expression)") {
            _ = try document.xpath(expression, maximumSteps: maximumSteps)
        }
    }

    /// Returns a document with 8,000 nodes. Comparing 2,000 elements with 2,000 others takes four million steps.
    private static func pairs() throws -> XML.Document {
        try XML.Document("<r>" + (0..<2_000).map { "<a>1</a><b>2\($0)</b>" }.joined() + "</r>")
    }

    @Test(arguments: [
        "//a/following::b", "//b/preceding::a", "//a/following-sibling::b", "//b/preceding-sibling::a", "//a | //b",
        "//a | //b | //a | //b", "//a = //b", "//b != //a", "//a > //b", "//b < //a", "//a[following::b]",
        "//b[preceding::a]", "//a[following-sibling::*[1]]", "//b[preceding-sibling::*[1]]", "//*/..",
        "//b/ancestor::*",
        "//*//text()", "//*/descendant-or-self::*", "//b[2000]", "(//b)[last()]/preceding::a",
        "/r/*[position() > 3999]",
        "//b[. = '2x']", "id(//b)", "//a[not(@x)]/text()[. = '1']", "sum(//b)", "//@*/following::*",
    ])
    func stepsGrowLinearlyWithTheDocument(expression: String) throws {
        _ = try Self.pairs().xpath(expression, maximumSteps: 400_000)
    }

    @Test(arguments: [
        "//a[count(following::b) > 0]", "//b[preceding::a[last()]]", "count(//*[count(//*[count(//*) > 1]) > 1])",
        "//a[//b = 'x']", "//a[. = //b]", "//a[contains(/, 'x')]", "//a[translate(/, '1', '2') = 'x']",
        "//a[normalize-space(/) = 'x']", "//a[sum(//b) < 0]", "//a[concat(/, /) = 'x']", "//a[number(/) = 1]",
        "//a[substring(/, 1, 9999) = 'x']", "//a[substring-before(/, 'x')]", "//a[/ = 'x' or / = string(/)]",
        "//a[count(//namespace::*) = 0]", "//a[id(/)]", "//a[(//b | //a)[1] = 'x']", "//a[string-length(/) = 0]",
        "//a\(String(repeating: "[/]", count: 1_300))", "//a[following::b[1999]]",
        "//a[/r/*[last()]/preceding-sibling::*[last()] = 'x']",
    ])
    func quadraticExpressionsAreStopped(expression: String) throws {
        #expect(error(expression, in: try Self.pairs(), maximumSteps: 1_000_000)?.kind == .xpathTooComplex)
    }

    @Test func repeatedlyReadTextIsCounted() throws {
        let text = "<r>" + String(repeating: "<a/>", count: 1_000) + String(repeating: "x", count: 5_000_000) + "</r>"
        let document = try XML.Document(text)
        for expression in [
            "//a[string-length(string(/)) > 0]", "//a[starts-with(/, 'y')]", "//a[/ = /*]", "//a[/ = 1]", "//a[/ < 1]",
        ] {
            #expect(error(expression, in: document)?.kind == .xpathTooComplex)
        }
        #expect(try document.xpath("string-length(/)").number == 5_000_000)
        #expect(try document.xpath("count(//a[/ = 'x'])").number == 0, "only the necessary text is read")
    }

    @Test func repeatedSearchesAreCounted() throws {
        let text = "<r>\(String(repeating: "a", count: 200_000))<b>\(String(repeating: "a", count: 50_000))b</b></r>"
        #expect(error("contains(/r/text(), //b)", in: try XML.Document(text))?.kind == .xpathTooComplex)
    }

    /// The step limit also limits the memory, at eight bytes per step.
    @Test func createdTextIsLimited() throws {
        let document = try XML.Document("<r>\(String(repeating: "x", count: 1_000_000))</r>")
        let many = (0..<60).map { _ in "/" }.joined(separator: ",")
        let nested = (0..<5).reduce("concat(\(many))") { inner, _ in
            "concat(\((0..<6).map { _ in inner }.joined(separator: ",")))"
        }
        for expression in ["concat(\(many),\(many),\(many))", String(nested.prefix(4_000))] {
            let found = error(expression, in: document)
            #expect(found?.kind == .xpathTooComplex || found?.kind == .invalidXPath)
        }
        #expect(error("concat(/,/)", in: document, maximumSteps: 200_000)?.kind == .xpathTooComplex)
        #expect(try document.xpath("concat(/,/)").string.utf8.count == 2_000_000)
    }

    @Test func collectedNodesAreLimited() throws {
        let document = try Self.pairs()
        let many = (0..<100).map { _ in "//node()" }.joined(separator: "|")
        #expect(error(many, in: document, maximumSteps: 1_000_000)?.kind == .xpathTooComplex)
    }

    @Test func anErrorNamesTheLimit() throws {
        let found = error("//b", in: try Self.pairs(), maximumSteps: 1_234)
        #expect(found?.message == "the XPath expression exceeds the limit of 1234 steps")
    }

    @Test(arguments: [("(", ")"), ("a[", "]"), ("not(", ")")])
    func bracketsAreLimitedToSixtyFourLevels(open: String, close: String) throws {
        let document = try XML.Document("<a/>")
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(throws: Never.self) { _ = try document.xpath(nested(64)) }
        #expect(error(nested(65), in: document)?.kind == .xpathTooComplex)
    }
}
