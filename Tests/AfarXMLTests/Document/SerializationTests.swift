import AfarXML
import Foundation
import Testing

@Suite struct SerializationTests {
    @Test func serializationPreservesADocument() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!--before-->
            <a:b xmlns:a="urn:a" c="&lt;&quot;&#10;&amp;"><?do it?>ä&lt;&gt;<![CDATA[<x>]]><d/>\u{1F600}</a:b>

            """
        let document = try XML.Document(text)
        #expect(document.xmlString() == text)
        #expect(document.root.first(named: "d")?.xmlString() == "<d/>")
        #expect(try XML.Document(document.xmlString()).root.text == document.root.text)
    }

    @Test func prettyPrintingIndentsElementsButNotText() throws {
        let document = try XML.Document(
            "<a> <b><c>one  two</c><c/></b>\n\n<d>text <e/></d><f xml:space=\"preserve\"> <g/> </f></a>")
        #expect(
            document.xmlString(prettyPrinted: true) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <a>
                  <b>
                    <c>one  two</c>
                    <c/>
                  </b>
                  <d>text <e/></d>
                  <f xml:space="preserve"> <g/> </f>
                </a>

                """)
        #expect(document.root.nodes.count { $0.kind == .text } == 2, "the document is unchanged")
    }

    @Test(arguments: [false, true]) func anElementIsWrittenWithItsNamespaces(isPretty: Bool) throws {
        let document = try XML.Document("<a xmlns='urn:a' xmlns:p=\"urn:p\"><p:b p:c=\"1\"><d/></p:b></a>")
        let part = try #require(document.root.first(named: "b")).xmlString(prettyPrinted: isPretty)
        let root = try XML.Document(part).root
        #expect(root.namespaceURI == "urn:p")
        #expect(root.attribute("c", namespace: "urn:p") == "1")
        #expect(root.first(named: "d")?.namespaceURI == "urn:a")
    }

    @Test func descriptionsAreTheXMLText() throws {
        let document = try XML.Document("<a b='1'><c/>t</a>")
        #expect("\(document)" == document.xmlString())
        #expect("\(document.root)" == "<a b=\"1\"><c/>t</a>")
        #expect(document.root.attributes.map { "\($0)" } == ["b=\"1\""])
        #expect(document.root.nodes.map { "\($0)" } == ["<c/>", "t"])
    }

    @Test func everyKindOfNodeIsWritten() throws {
        let document = try XML.Document("<a xmlns:p='u' p:b='\u{E4}&lt;' c='1'>t&amp;<!--x--><?y z?><![CDATA[w]]></a>")
        #expect(document.root.attributes.map { $0.xmlString() } == ["p:b=\"\u{E4}&lt;\"", "c=\"1\""])
        #expect(document.root.nodes.map { $0.xmlString() } == ["t&amp;", "<!--x-->", "<?y z?>", "<![CDATA[w]]>"])
        #expect(document.node.xmlString() == document.xmlString())
        #expect(document.node.xmlString(prettyPrinted: true) == document.xmlString(prettyPrinted: true))
        #expect(document.xmlString().contains("p:b=\"\u{E4}&lt;\""))
    }
}
