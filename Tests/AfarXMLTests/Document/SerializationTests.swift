import AfarXML
import Foundation
import Testing

@Suite struct SerializationTests {
    @Test func whatIsWrittenIsWhatWasRead() throws {
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

    @Test func prettyPrintingIndentsElementsAndLeavesTextAlone() throws {
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
        #expect(document.root.nodes.count { $0.kind == .text } == 2, "the document itself is left alone")
    }

    @Test func anElementIsWrittenWithTheNamespacesThatItNeeds() throws {
        let document = try XML.Document("<a xmlns:p=\"urn:p\"><p:b p:c=\"1\"/></a>")
        let part = try #require(document.root.first(named: "b")).xmlString(prettyPrinted: true)
        #expect(try XML.Document(part).root.attribute("c", namespace: "urn:p") == "1")
    }
}
