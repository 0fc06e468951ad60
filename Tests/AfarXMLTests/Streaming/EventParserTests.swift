import AfarCore
import AfarXML
import Foundation
import Testing

@Suite struct EventParserTests {
    @Test func eventsAreReportedInOrderForAnyChunks() throws {
        let text =
            "<?xml version='1.0'?><!--c--><a xmlns='u' b='&lt;1' p:c='2' xmlns:p='v'>t&amp;ä<![CDATA[<]]><p:d/><?i j?></a>"
        for step in [1, 2, 3, 7, 1_000] {
            var parser = XML.EventParser()
            let events = try parser.all(of: Data(text.utf8), cutAt: step).map { try $0.get() }
            var shapes: [String] = []
            var gathered = ""
            for event in events {
                if case .text(let piece) = event {
                    gathered += piece
                    continue
                }
                if !gathered.isEmpty { shapes.append("text \(gathered)") }
                gathered = ""
                switch event {
                case .startElement(let tag):
                    let attributes = tag.attributes.map {
                        "\($0.name.namespaceURI ?? "-"):\($0.name.localName)=\($0.value)"
                    }
                    shapes.append("start \(tag.name.namespaceURI ?? "-") \(tag.name.localName) \(attributes)")
                case .endElement(let name): shapes.append("end \(name.localName)")
                case .comment(let text): shapes.append("comment \(text)")
                case .processingInstruction(let target, let data): shapes.append("instruction \(target) \(data)")
                case .text: break
                }
            }
            #expect(
                shapes == [
                    "comment c", #"start u a ["-:b=<1", "v:c=2"]"#, "text t&ä<", "start v d []", "end d",
                    "instruction i j",
                    "end a",
                ])
        }
    }

    @Test func anAttributeIsFoundByItsName() throws {
        var parser = XML.EventParser()
        let events = try parser.all(of: Data("<a b='1' p:c='2' xmlns:p='v'/>".utf8), cutAt: 100).map { try $0.get() }
        guard case .startElement(let tag) = events.first else { throw AFError.explicitlyCancelled }
        #expect(tag["b"] == "1")
        #expect(tag["c"] == nil)
    }

    @Test(arguments: ["<a><p:b/><c/></a>", "<a><b c='1' c='2'/><d/></a>", "<a>&#0;<c/></a>"])
    func noEventFollowsAFailureForAnyChunks(text: String) {
        for step in [1, 2, 3, 7, 1_000] {
            var parser = XML.EventParser()
            let results = parser.all(of: Data(text.utf8), cutAt: step)
            let names = results.map { result in
                if case .success(.startElement(let tag)) = result { tag.name.localName } else { "-" }
            }
            #expect(names == ["a", "-"], "\(step)")
        }
    }

    @Test func depthIsLimited() throws {
        var parser = XML.EventParser(options: XML.ParsingOptions(maximumDepth: 10))
        let last = try #require(parser.all(of: Data(String(repeating: "<a>", count: 20).utf8), cutAt: 9).last)
        let error = #expect(throws: AFError.self) { _ = try last.get() }
        #expect((error?.underlyingError as? XML.Error)?.kind == .limitExceeded)
    }
}
