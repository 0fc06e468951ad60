import AfarCore
import AfarXML
import Foundation
import Testing

/// Documents with a large number of small parts.
@Suite struct CrowdTests {
    private func error(_ text: String, _ options: XML.ParsingOptions = .init()) -> XML.Error? {
        #expect(throws: XML.Error.self) { _ = try XML.Document(text, options: options) }
    }

    /// Returns the error at the end of a stream.
    private func streamError(_ text: String, _ parser: some DataStreamParser) throws -> XML.Error? {
        var parser = parser
        let last = try #require(parser.all(of: Data(text.utf8), cutAt: 5_000).last)
        let error = #expect(throws: AFError.self) { _ = try last.get() }
        return error?.underlyingError as? XML.Error
    }

    // MARK: Names

    /// Returns documents with the given number of different names.
    private static func documents(names: Int) -> [String] {
        let numbers = 0..<names
        let attributes = stride(from: 0, to: names, by: 100).map { start in
            "<a" + (start..<min(start + 100, names)).map { " a\($0)=''" }.joined() + "/>"
        }
        return [
            numbers.map { "<a\($0)/>" }.joined(), attributes.joined(), numbers.map { "<?a\($0) b?>" }.joined(),
            numbers.map { "<a xmlns:a\($0)=''/>".replacing("=''", with: "='b'") }.joined(),
            numbers.map { "<a xmlns='a\($0)'/>" }.joined(),
        ].map { "<r>\($0)</r>" }
    }

    @Test func tooManyNamesAreRejected() throws {
        for text in Self.documents(names: 1_000) {
            let found = try #require(error(text, XML.ParsingOptions(maximumNames: 999)))
            #expect(found.kind == .limitExceeded, "\(text.prefix(100))")
            #expect(found.message.contains("999 different names"))
            // The enclosing elements have names, too.
            #expect(throws: Never.self) { _ = try XML.Document(text, options: .init(maximumNames: 1_010)) }
        }
        let names = (0..<50_001).map { "<a\($0)/>" }.joined()
        #expect(error("<r>\(names)</r>")?.kind == .limitExceeded)
    }

    /// The parser stores all names until the stream ends.
    @Test func tooManyNamesAreRejectedOnStreams() throws {
        let options = XML.ParsingOptions(maximumNames: 999)
        for text in Self.documents(names: 1_000) {
            #expect(try streamError(text, XML.EventParser(options: options))?.kind == .limitExceeded)
            let elements = XML.ElementParser(matching: "r", options: options) { $0.name }
            #expect(try streamError(text, elements)?.kind == .limitExceeded)
            let others = XML.ElementParser(matching: "x", options: options) { $0.name }
            #expect(try streamError(text, others)?.kind == .limitExceeded)
        }
    }

    @Test func tooManyNamesAreRejectedInPages() throws {
        let page = (0..<1_000).map { "<p a\($0)>x</p>" }.joined()
        let error = #expect(throws: XML.Error.self) {
            _ = try XML.Document(html: page, options: XML.ParsingOptions(maximumNames: 999))
        }
        #expect(error?.kind == .limitExceeded)
        #expect(throws: Never.self) { _ = try XML.Document(html: page) }
    }

    @Test func idsDoNotCountAsNames() throws {
        let elements = (0..<2_000).map { "<a xml:id='i\($0)'/>" }.joined()
        let options = XML.ParsingOptions(maximumNames: 10)
        let document = try XML.Document("<r>\(elements)</r>", options: options)
        #expect(try document.xpath("id('i1999 i7')/@xml:id").nodes.map(\.text) == ["i7", "i1999"])
        let page = try XML.Document(html: elements.replacing("xml:id", with: "id"), options: options)
        #expect(try page.xpath("id('i7')/@id").nodes.map(\.text) == ["i7"])
        var parser = XML.ElementParser(matching: "r", options: options) { try $0.xpath("id('i1999')").nodes.count }
        #expect(try parser.all(of: Data("<r>\(elements)</r>".utf8), cutAt: 999).map { try $0.get() } == [1])
    }

    @Test func longNamesAreRejectedTogether() throws {
        let names = (0..<300).map { "<\(String(repeating: "x", count: 40_000))\($0)/>" }.joined()
        #expect(error("<r>\(names)</r>")?.kind == .limitExceeded)
        #expect(try streamError("<r>\(names)</r>", XML.EventParser())?.kind == .limitExceeded)
    }

    // MARK: Nodes

    @Test(arguments: [
        "<a b='' c=''/>", "<!----><!----><!---->", "<?a?><?a?><?a?>", "<![CDATA[]]>x<![CDATA[]]>x<![CDATA[]]>",
    ])
    func tooManyNodesAreRejected(nodes: String) throws {
        let text = "<r>\(String(repeating: nodes, count: 10))</r>"
        let found = try #require(error(text, XML.ParsingOptions(maximumNodes: 30)))
        #expect(found.kind == .limitExceeded)
        #expect(found.message.contains("30 nodes"))
        #expect(throws: Never.self) { _ = try XML.Document(text, options: XML.ParsingOptions(maximumNodes: 31)) }
        let options = XML.ParsingOptions(maximumNodes: 30)
        #expect(
            try streamError(text, XML.ElementParser(matching: "r", options: options) { $0.name })?.kind
                == .limitExceeded)
        // The limit applies to each streamed element separately. Other nodes aren't stored.
        var parser = XML.ElementParser(matching: "a", options: XML.ParsingOptions(maximumNodes: 3)) { $0.name }
        #expect(throws: Never.self) { for result in parser.all(of: Data(text.utf8), cutAt: 7) { _ = try result.get() } }
    }

    @Test func tooManyNodesAreRejectedInPages() throws {
        let page = String(repeating: "<p a b><!----></p>", count: 10)
        let error = #expect(throws: XML.Error.self) {
            _ = try XML.Document(html: page, options: XML.ParsingOptions(maximumNodes: 41))
        }
        #expect(error?.kind == .limitExceeded)
        #expect(throws: Never.self) { _ = try XML.Document(html: page, options: XML.ParsingOptions(maximumNodes: 42)) }
    }

    // MARK: Long tags

    /// libxml2 would fail at the end of a document whose last 10 million bytes are tags.
    @Test func attributesOfAnyLengthTogetherAreRead() throws {
        let element = "<a b='\(String(repeating: "x", count: 1 << 20))'/>"
        let document = try XML.Document("<r>\(String(repeating: element, count: 16))</r>")
        #expect(document.root.children.count == 16)
        #expect(document.root.children.last?["b"]?.utf8.count == 1 << 20)
    }

    @Test func aLongTagIsRejectedAtItsStart() throws {
        let value = String(repeating: "x", count: 1 << 20)
        let tag = "<a" + (0..<10).map { " a\($0)='\(value)'" }.joined() + "/>"
        let text = "<r>\n<b/>\(tag)</r>"
        let found = try #require(error(text))
        #expect(found.kind == .limitExceeded)
        #expect(found.line == 2)
        #expect(found.byteOffset == 8)
        #expect(found.message.contains("tag"))
        #expect(try streamError(text, XML.EventParser())?.byteOffset == 8)
    }

    /// A parser that scans the whole tag again for each chunk would take a minute.
    @Test func aTagInSmallChunksIsScannedOnce() throws {
        let value = String(repeating: ">x", count: 500_000)
        let bytes = Data("<r><a b='\(value)'/><a \(String(repeating: " ", count: 100_000)) c=''/></r>".utf8)
        let start = ContinuousClock.now
        var parser = XML.ElementParser(matching: "a") { $0["b"]?.utf8.count ?? 0 }
        #expect(try parser.all(of: bytes, cutAt: 50).map { try $0.get() } == [1_000_000, 0])
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    /// Limits of 0 or less reject everything, and the maximum rejects nothing.
    @Test(arguments: [Int.min, -1, 0, .max]) func limitsCanHaveAnyValue(limit: Int) throws {
        let text = "<r xmlns:p='u'><a b='1'>x</a><!--c--></r>"
        let all = XML.ParsingOptions(
            maximumBytes: limit, maximumDepth: limit, maximumAttributes: limit, maximumElements: limit,
            maximumNodes: limit, maximumNames: limit, maximumNamespaces: limit)
        #expect(((try? XML.Document(text, options: all)) != nil) == (limit == .max))
        var options = XML.ParsingOptions()
        options.maximumDepth = limit
        #expect(((try? XML.Document(text, options: options)) != nil) == (limit == .max))
        var parser = XML.ElementParser(matching: "a", options: all) { $0.text }
        let values = (parser.parse(Data(text.utf8)) + parser.finish()).map { try? $0.get() }
        #expect(values == (limit == .max ? ["x"] : [nil]))
        let document = try XML.Document(text)
        let found = try? document.xpath("//a", maximumSteps: limit).nodes.count
        #expect(found == (limit == .max ? 1 : nil))
    }

    // MARK: Document types

    /// libxml2 compares each name in such a list with all others before it reports any.
    @Test(arguments: ["<!ATTLIST a b NOTATION (%) #IMPLIED>", "<!ELEMENT a (%)>", "<!ATTLIST a b (%) #IMPLIED>"])
    func longDeclarationsAreRejected(declaration: String) throws {
        func text(names: Int) -> String {
            let list = (0..<names).map { "n\($0)" }.joined(separator: "|")
            return "<!DOCTYPE a [<!--]-->\n\(declaration.replacing("%", with: list))]><a/>"
        }
        let options = XML.ParsingOptions(documentType: .ignored)
        for names in [20_000, 200_000] {
            #expect(error(text(names: names), options)?.kind == .limitExceeded)
            #expect(try streamError(text(names: names), XML.EventParser(options: options))?.kind == .limitExceeded)
        }
        #expect(throws: Never.self) { _ = try XML.Document(text(names: 1_000), options: options) }
        #expect(error(text(names: 20_000))?.kind == .documentTypeRefused)
    }

    @Test func textAfterADocumentTypeIsNotPartOfIt() throws {
        let text = "<!DOCTYPE a [<!--]--><!ELEMENT a ANY> ]><!--\(String(repeating: "-x", count: 100_000))--><a/>"
        #expect(throws: Never.self) { _ = try XML.Document(text, options: XML.ParsingOptions(documentType: .ignored)) }
    }
}
