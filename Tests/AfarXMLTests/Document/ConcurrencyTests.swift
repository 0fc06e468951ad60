import AfarXML
import Foundation
import Testing

/// Many tasks use one document concurrently. The thread sanitizer also runs these tests.
@Suite struct ConcurrencyTests {
    private struct Feed: Decodable, Equatable {
        struct Entry: Decodable, Equatable {
            @XMLAttribute var id: Int
            let title: String
        }
        let entry: [Entry]
    }

    /// The results of all queries of a document.
    private struct Findings: Equatable {
        var texts: [String] = []
        var attributes: [String] = []
        var paths: [String] = []
        var found: [String] = []
        var count = 0.0
        var feed: Feed?
        var written: [String] = []

        init(_ document: XML.Document) throws {
            for element in document.root.descendants {
                texts.append(element.text)
                attributes += element.attributes.map { "\($0.name)=\($0.value)" }
                paths.append("\(element.path):\(element.line):\(element.namespaceURI ?? "")")
                _ = element.nodes.map(\.kind)
            }
            let names = ["f": "urn:f", "x": "urn:x"]
            found = try document.xpath("//f:entry[@x:kind='a']/f:title | //@id", namespaces: names).nodes.map(\.text)
            count = try document.root.xpath("count(.//text()) + sum(//@id)", namespaces: names).number
            feed = try XMLDecoder().decode(Feed.self, from: document.root)
            written = [document.xmlString(), document.xmlString(prettyPrinted: true), document.node.xmlString()]
            written += document.root.children.map { $0.xmlString(prettyPrinted: true) }
        }
    }

    @Test func aDocumentCanBeUsedConcurrently() async throws {
        let entries = (0..<20).map {
            "<entry id='\($0)' x:kind='\($0 % 2 == 0 ? "a" : "b")'><title>&lt;\($0)&gt;<![CDATA[&]]></title></entry>"
        }
        let document = try XML.Document("<feed xmlns='urn:f' xmlns:x='urn:x'>\(entries.joined(separator: "\n"))</feed>")
        let expected = try Findings(XML.Document(document.root.xmlString()))
        #expect(expected.feed?.entry.count == 20)
        try await withThrowingTaskGroup(of: Findings.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    for _ in 0..<9 { _ = try Findings(document) }
                    return try Findings(document)
                }
            }
            for try await findings in group { #expect(findings == expected) }
        }
    }

    @Test func aNodeRetainsItsDocument() async throws {
        let elements = try (0..<16).map { try XML.Document("<a><b>\($0)</b></a>").root.first(named: "b") }
        let texts = await withTaskGroup(of: String.self) { group in
            for element in elements { group.addTask { "\(element?.text ?? "") in \(element?.parent?.name ?? "")" } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(texts == Set((0..<16).map { "\($0) in a" }))
    }
}
