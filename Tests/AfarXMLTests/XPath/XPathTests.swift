import AfarXML
import Foundation
import Testing

@Suite struct XPathTests {
    let document: XML.Document

    init() throws {
        document = try XML.Document(
            """
            <shop xmlns="urn:shop" xmlns:x="urn:x"><item x:id="1"><price>2.50</price></item>
            <item x:id="2"><price>10</price></item><other/></shop>
            """)
    }

    @Test func nodesAreFoundByTheirNamespacesName() throws {
        let names = ["s": "urn:shop", "y": "urn:x"]
        let items = try document.xpath("/s:shop/s:item", namespaces: names).elements
        #expect(items.map { $0.attribute("id", namespace: "urn:x") } == ["1", "2"])
        #expect(try document.xpath("//s:item/@y:id", namespaces: names).nodes.map(\.text) == ["1", "2"])
        #expect(
            try document.xpath("//s:item/@y:id", namespaces: names).nodes.compactMap(\.attribute?.value) == ["1", "2"])
        #expect(try items[1].xpath("s:price", namespaces: names).string == "10")
        #expect(try items[1].xpath("../s:other", namespaces: names).nodes.map(\.name) == ["other"])
        // In an expression, a name without a prefix has no namespace, so it matches no element here.
        #expect(try document.xpath("//item").nodes.isEmpty)
    }

    @Test func attributesHaveNoSiblingsAndDoNotHideThoseOfOthers() throws {
        let document = try XML.Document("<a x='1'><b/><c/></a>")
        #expect(try document.xpath("(//@x | //b)/following-sibling::*").nodes.map(\.name) == ["c"])
        #expect(try document.xpath("(//@x | //c)/preceding-sibling::*").nodes.map(\.name) == ["b"])
    }

    @Test(arguments: [("  a \n b\t\tc ", "a b c"), ("", ""), (" \n ", ""), ("a", "a")])
    func spaceIsNormalized(text: String, expected: String) throws {
        #expect(try XML.Document("<a>\(text)</a>").xpath("normalize-space(/)").string == expected)
    }

    @Test func resultsHaveTheirTypes() throws {
        let names = ["s": "urn:shop"]
        #expect(try document.xpath("count(//s:item)", namespaces: names) == .number(2))
        #expect(try document.xpath("sum(//s:price)", namespaces: names) == .number(12.5))
        #expect(try document.xpath("string(//s:price)", namespaces: names) == .string("2.50"))
        #expect(try document.xpath("boolean(//s:nothing)", namespaces: names) == .boolean(false))
        let prices = try document.xpath("//s:price", namespaces: names)
        #expect(prices.string == "2.50")
        #expect(prices.number == 2.5)
        #expect(prices.boolean)
        #expect(try document.xpath("1 div 0").number == .infinity)
        #expect(try document.xpath("1 div 0").string == "Infinity")
        #expect(try document.xpath("'12'").number == 12)
        #expect(try document.xpath("'x'").number.isNaN)
        #expect(try document.xpath("true()").string == "true")
        #expect(try document.xpath("7").nodes.isEmpty)
    }

    @Test func nodesAreUniqueAndInDocumentOrder() throws {
        let names = ["s": "urn:shop"]
        let both = try document.xpath("//s:other | //s:item[2] | //s:item", namespaces: names).nodes
        #expect(both.map(\.localName) == ["item", "item", "other"])
        #expect(Set(both).count == 3)
    }

    @Test(arguments: [
        ("//item[", 7), ("//", 2), ("item)", 4), ("'open", 5), ("a b", 2), ("", 0), ("//item[@a=]", 10), ("1 +", 3),
    ])
    func anInvalidExpressionReportsTheLocation(expression: String, place: Int) throws {
        let error = #expect(throws: XML.Error.self) { _ = try document.xpath(expression) }
        #expect(error?.kind == .invalidXPath)
        #expect(error?.byteOffset == place, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        ("//p:item", "Undefined namespace prefix"), ("$v", "Undefined variable"), ("f()", "Unknown function"),
        ("//item[", "Invalid expression"), ("'open", "Unfinished text"), ("count()", "Wrong number of arguments"),
    ])
    func errorsAreDescribed(expression: String, words: String) throws {
        let error = #expect(throws: XML.Error.self) { _ = try document.xpath(expression) }
        #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["p:item", "//p:item", "$variable", "unknown()", "p:unknown()", "count()", "id(1,2)", "count(1)"])
    func unknownNamesAreErrors(expression: String) throws {
        let error = #expect(throws: XML.Error.self) { _ = try document.xpath(expression) }
        #expect(error?.kind == .invalidXPath)
    }

    @Test func namespaceNodesAreRejected() throws {
        let error = #expect(throws: XML.Error.self) { _ = try document.xpath("//namespace::*") }
        #expect(error?.kind == .invalidXPath)
        #expect(try document.xpath("count(/*/namespace::*)").number == 3)
    }

    @Test func anEndlessExpressionIsStopped() throws {
        let many = try XML.Document("<a>" + String(repeating: "<b><c/></b>", count: 2_000) + "</a>")
        let start = ContinuousClock.now
        let error = #expect(throws: XML.Error.self) {
            _ = try many.xpath("count(//*[count(//*[count(//*) > 1]) > 1])")
        }
        #expect(error?.kind == .xpathTooComplex)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test(arguments: [100, 1_000, 100_000])
    func deeplyNestedExpressionsDoNotCrash(depth: Int) async throws {
        let document = document
        for (open, close) in [("(", ")"), ("a[", "]"), ("not(", ")"), ("-", "")] {
            let expression = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            _ = await Task.detached { try? document.xpath(expression) }.value
        }
    }

    @Test(arguments: ["1+", "1=", "1 or ", "a|", "a/"])
    func longChainsDoNotOverflowTheStack(link: String) async throws {
        let document = document
        let expression = String(repeating: link, count: 100_000) + "a"
        let error = await #expect(throws: XML.Error.self) {
            _ = try await Task.detached { try document.xpath(expression) }.value
        }
        #expect(error?.kind == .xpathTooComplex)
    }

    /// Without element numbers, libxml2 sorts nodes by traversing the tree, which takes minutes.
    @Test func sortingNodesIsNotQuadratic() throws {
        let many = try XML.Document("<r>" + String(repeating: "<a/>\n<b/>\n", count: 40_000) + "</r>")
        let start = ContinuousClock.now
        #expect(try many.xpath("count(/r/b[last()]/preceding-sibling::a)").number == 40_000)
        #expect(try many.xpath("(//b | //a)[1]").elements.map(\.name) == ["a"])
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(many.root.children.count == 80_000)
        #expect(many.root.xmlString().hasPrefix("<r><a/>\n<b/>"))
    }

    @Test func aNULOrAnInvalidPrefixIsAnError() throws {
        #expect(throws: XML.Error.self) { _ = try document.xpath("//a\0b") }
        #expect(throws: XML.Error.self) { _ = try document.xpath("//a", namespaces: ["": "urn:shop"]) }
    }
}
