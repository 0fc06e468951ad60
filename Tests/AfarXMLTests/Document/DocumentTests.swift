import AfarXML
import Foundation
import Testing

@Suite struct DocumentTests {
    @Test func aDocumentsElementsAttributesAndTextsAreRead() throws {
        let document = try XML.Document(
            """
            <?xml version="1.0"?>
            <a:feed xmlns:a="urn:a" xmlns="urn:plain" a:kind="list" id="7"><entry>one &amp; <b>two</b></entry><!-- no -->
            <entry/><a:entry><![CDATA[<3>]]></a:entry></a:feed>
            """)
        let root = document.root
        #expect(root.name == "a:feed")
        #expect(root.localName == "feed")
        #expect(root.prefix == "a")
        #expect(root.namespaceURI == "urn:a")
        #expect(root.namespaceDeclarations == ["": "urn:plain", "a": "urn:a"])
        #expect(root.attributes.map(\.name) == ["a:kind", "id"])
        #expect(root["id"] == "7")
        #expect(root["kind"] == nil)
        #expect(root.attribute("kind", namespace: "urn:a") == "list")
        #expect(root.attribute("kind") == "list")
        #expect(root.children.map(\.name) == ["entry", "entry", "a:entry"])
        #expect(root.children.map(\.text) == ["one & two", "", "<3>"])
        #expect(root.children.map(\.line) == [2, 3, 3])
        #expect(root.children(named: "entry", namespace: "urn:a").map(\.path) == ["/feed/entry[3]"])
        #expect(root.children(named: "entry", namespace: "urn:plain").count { _ in true } == 2)
        #expect(
            root.first(named: "entry")?.first(named: "b")?.parent?.next == root.children.dropFirst().first { _ in true }
        )
        #expect(root.descendants.map(\.localName) == ["entry", "b", "entry", "entry"])
        #expect(root.first(named: "entry")?.descendants.map(\.localName) == ["b"])
        #expect(root.nodes.map(\.kind) == [.element, .comment, .text, .element, .element])
        #expect(root.parent == nil)
    }
}
