import AfarCore
import AfarSerializers
import AfarXML
import Foundation
import Testing

/// Documents that are harmful, intentionally or not.
@Suite struct HostileDocumentTests {
    private func error(_ data: Data, _ options: XML.ParsingOptions = .init()) -> XML.Error? {
        #expect(throws: XML.Error.self) { _ = try XML.Document(data, options: options) }
    }

    private func error(_ text: String, _ options: XML.ParsingOptions = .init()) -> XML.Error? {
        error(Data(text.utf8), options)
    }

    @Test func onlyOneByteOrderMarkIsAllowed() throws {
        let marks = Data(Array(repeating: [0xEF, 0xBB, 0xBF] as [UInt8], count: 100_000).joined())
        #expect(error(marks + Data("<a/>".utf8)) != nil)
        #expect(try XML.Document(marks.prefix(3) + Data("<a/>".utf8)).root.name == "a")
    }

    /// After an error, libxml2 continues, but parses the text differently from Afar's code that counts attributes in
    /// advance.
    @Test(arguments: ["<r><?>", "<r><!'>", "<r><!x '>", "<r><!D '>"])
    func nothingIsComparedAfterAnError(beginning: String) {
        let attributes = (0..<100_000).map { "a\($0)=''" }.joined(separator: " ")
        let start = ContinuousClock.now
        #expect(error("\(beginning)<e \(attributes)/></r>") != nil)
        // An earlier version took quadratic time: several seconds.
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test(arguments: ["", " \n\t "]) func anEmptyDocumentIsAnError(text: String) {
        #expect(error(text)?.kind == .emptyDocument)
    }

    @Test(arguments: [
        "<a>", "<a", "<", "<a></b>", "<a/><b/>", "text", "<a b='1' b='2'/>", "<a b=1/>", "<a>&#0;</a>",
        "<a>&#xD800;</a>",
        "<a>]]></a>", "<a b='<'/>", "<?xml version='1.0'?>", "<a><!-- -- --></a>", "<p:a/>", "<a p:b='1'/>",
        "<a xmlns:p=''/>", "<a/>text", "<a>\u{1}</a>", "<a>\u{FFFE}</a>", "<1/>", " <?xml version='1.0'?><a/>",
        "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='1'/>", "{\"json\": 1}", "<!-- only -->",
    ])
    func malformedDocumentsAreRejected(text: String) throws {
        let found = try #require(error(text))
        #expect(found.kind == .malformed || found.kind == .emptyDocument)
        #expect(found.line == 1)
        #expect(!found.description.isEmpty)
    }

    @Test func anErrorNamesLineColumnByteAndPath() throws {
        let found = try #require(error("<feed>\n  <entry>\n    <title>x</titel>\n</entry></feed>"))
        #expect(found.line == 3)
        #expect(found.column == 21)
        #expect(found.byteOffset == 37)
        #expect(found.path == "/feed/entry/title")
        #expect(found.description.contains("line 3, column 21, in /feed/entry/title"))
    }

    @Test func everyTruncationIsAnError() {
        let text = "<?xml version='1.0'?><a b='ä'><!-- c --><d>&lt;</d><![CDATA[e]]><?f g?></a>"
        let bytes = Data(text.utf8)
        for length in 0..<bytes.count {
            #expect(throws: XML.Error.self) { _ = try XML.Document(bytes.prefix(length)) }
        }
        #expect(throws: Never.self) { _ = try XML.Document(bytes) }
    }

    @Test(arguments: ["<a>\0</a>", "<a/>\0", "<a/>\0<b/>", "\0<a/>", "<a b='\0'/>", "<a\0/>", "<a><!--\0--></a>"])
    func aNULIsAlwaysAnError(text: String) {
        #expect(error(text) != nil)
    }

    @Test(.disabled(if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil, "It retains freed memory."))
    func anIgnoredDocumentTypesContentIsNotStored() throws {
        let type = String(repeating: "<!--comment--><?target data?>", count: 2_000)
        let bytes = Data("<!DOCTYPE a [\(type)]><a/>".utf8)
        let options = XML.ParsingOptions(documentType: .ignored)
        #expect(try XML.Document(bytes, options: options).root.localName == "a")
        let before = try residentMemory()
        for _ in 0..<400 { _ = try XML.Document(bytes, options: options) }
        // Stored nodes would need 400 × 4,000 × 120 bytes. Other tests allocate memory concurrently.
        #expect(try residentMemory() - before < 100 << 20)
    }

    /// Returns the resident memory of this process in bytes.
    private func residentMemory() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(pages.dropFirst().first.flatMap { Int($0) }) * 4096
    }

    @Test func aDocumentTypeIsRejectedByDefault() throws {
        let text = "<!DOCTYPE plist PUBLIC '-//A//B' 'http://127.0.0.1:1/x.dtd'><plist>1</plist>"
        let found = try #require(error(text))
        #expect(found.kind == .documentTypeRefused)
        #expect(found.line == 1)
        let document = try XML.Document(text, options: XML.ParsingOptions(documentType: .ignored))
        #expect(document.root.text == "1")
    }

    @Test(arguments: ["<!NOTATION n>", "<!NOTATION n >", "<!NOTATION n SYSTEM>", "<!NOTATION n PUBLIC>", "<!NOTATION>"])
    func anIncompleteNotationIsRejected(notation: String) {
        let options = XML.ParsingOptions(documentType: .ignored)
        #expect(error("<!DOCTYPE a [\(notation)]><a/>", options)?.kind == .malformed)
        var parser = XML.ElementParser(matching: "/a", options: options) { $0.name }
        let results = parser.parse(Data("<!DOCTYPE a [\(notation)]><a/>".utf8)) + parser.finish()
        #expect(results.contains { (try? $0.get()) == nil })
    }

    @Test(arguments: [
        "<!NOTATION n SYSTEM 'x'>", "<!NOTATION n PUBLIC 'x'>", "<!NOTATION n PUBLIC 'x' 'y'>",
        "<!ENTITY e SYSTEM 'a b'>", "<!ENTITY e PUBLIC 'p' 'http://[x'>", "<!ENTITY % e SYSTEM '%zz'>",
        "<!ENTITY e SYSTEM 'C:\\a\\b' NDATA n>", "<!NOTATION n SYSTEM 'a b'>",
    ])
    func anIgnoredDocumentTypeCanReferToAnything(declaration: String) throws {
        let options = XML.ParsingOptions(documentType: .ignored)
        for text in ["<!DOCTYPE a [\(declaration)]><a>1</a>", "<!DOCTYPE a SYSTEM '\\\\a b' [\(declaration)]><a>1</a>"]
        {
            #expect(try XML.Document(text, options: options).root.text == "1")
        }
    }

    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY e 'text'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e 'text'>]><a b='&e;'/>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM 'file:///etc/passwd'> %p;]><a/>",
        "<!DOCTYPE a [<!ENTITY % p '<!ENTITY e \"x\">'> %p;]><a>&e;</a>",
        "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a>&e;</a>",
        "<!DOCTYPE a PUBLIC 'p' 'http://127.0.0.1:1/x'><a>&nbsp;</a>",
        "<a>&nbsp;</a>", "<a b='&nbsp;'/>",
    ])
    func entitiesAreNotExpanded(text: String) throws {
        let found = try #require(error(text, XML.ParsingOptions(documentType: .ignored)))
        #expect(found.kind == .entityRefused)
        if text.hasPrefix("<!") { #expect(error(text)?.kind == .documentTypeRefused) }
    }

    @Test func entityBombsAreRejectedImmediately() throws {
        var text = "<!DOCTYPE a [<!ENTITY e0 'ha'>"
        for level in 1...30 { text += "<!ENTITY e\(level) '" + String(repeating: "&e\(level - 1);", count: 10) + "'>" }
        text += "]><a>&e30;</a>"
        #expect(error(text)?.kind == .documentTypeRefused)
        #expect(error(text, XML.ParsingOptions(documentType: .ignored))?.kind == .entityRefused)
    }

    @Test(arguments: ["b CDATA 'default'", "b CDATA #FIXED 'x'", "xmlns:p CDATA 'urn:p'", "b (x|y) 'x'"])
    func defaultAttributesAreRejected(declaration: String) throws {
        let text = "<!DOCTYPE a [<!ATTLIST a \(declaration)>]><a/>"
        #expect(error(text, XML.ParsingOptions(documentType: .ignored))?.kind == .documentTypeRefused)
        var parser = XML.EventParser(options: XML.ParsingOptions(documentType: .ignored))
        let last = try #require(parser.all(of: Data(text.utf8), cutAt: 7).last)
        #expect(throws: AFError.self) { _ = try last.get() }
    }

    @Test func declarationsWithoutDefaultsAreIgnored() throws {
        let text = """
            <!DOCTYPE a [<!ELEMENT a (b*)><!ATTLIST a b (x|y) #IMPLIED id ID #REQUIRED><!NOTATION n SYSTEM 'n'>
            <!ENTITY e SYSTEM 'e' NDATA n><?pi?><!--c-->]><a id='1'/>
            """
        let document = try XML.Document(text, options: XML.ParsingOptions(documentType: .ignored))
        #expect(document.root.attributes.map(\.name) == ["id"])
        #expect(!document.xmlString().contains("DOCTYPE"))
    }

    @Test func tooManyElementsAreRejected() throws {
        let text = "<r>" + String(repeating: "<a/>", count: 10) + "</r>"
        #expect(error(text, XML.ParsingOptions(maximumElements: 10))?.kind == .limitExceeded)
        #expect(throws: Never.self) { _ = try XML.Document(text, options: XML.ParsingOptions(maximumElements: 11)) }
    }

    /// libxml2 would detect EBCDIC and UTF-16 from the first bytes, but Afar's code that counts attributes wouldn't.
    @Test func libxml2NeverGuessesAnEncoding() throws {
        let ebcdic = Data([0x4C, 0x6F, 0xA7, 0x94, 0x93, 0x40, 0x6E, 0x4C, 0x81, 0x61, 0x6E])
        _ = try #require(error(ebcdic))
        _ = try #require(error(Data([0x3C, 0x00, 0x3F, 0x00, 0x61, 0x00]), XML.ParsingOptions(encoding: .utf8)))
    }

    @Test func validityErrorsAreWarnings() throws {
        let document = try XML.Document("<a xml:id='x'><b xml:id='x'/><c xml:id='1'/></a>")
        #expect(document.root.children.map(\.name) == ["b", "c"])
    }

    @Test func aRejectionNamesTheByte() throws {
        let found = try #require(error("<?xml version='1.0'?>\n<!DOCTYPE a><a/>"))
        #expect((22...34).contains(found.byteOffset ?? 0), "\(found)")
    }

    /// Each warning would include the names of all open elements.
    @Test func theNumberOfWarningsIsLimited() throws {
        let names = (0..<200).map { "n\($0)" + String(repeating: "x", count: 4_000) }
        let text =
            names.map { "<\($0)>" }.joined() + String(repeating: "<a xmlns='b'/>", count: 50_000)
            + names.reversed().map { "</\($0)>" }.joined()
        let start = ContinuousClock.now
        let document = try XML.Document(text)
        #expect(document.warnings.count == 100)
        #expect(document.warnings.allSatisfy { ($0.path ?? "").utf8.count < 5_000 })
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test(arguments: [257, 100_000]) func deepNestingIsRejected(depth: Int) throws {
        let found = try #require(
            error(String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)))
        #expect(found.kind == .limitExceeded)
        let deepest = String(repeating: "<a>", count: 256) + String(repeating: "</a>", count: 256)
        #expect(try XML.Document(deepest).root.descendants.count { _ in true } == 255)
        #expect(error(deepest, XML.ParsingOptions(maximumDepth: 255))?.kind == .limitExceeded)
    }

    @Test(arguments: [257, 60_000]) func tooManyAttributesAreRejected(count: Int) throws {
        let attributes = (0..<count).map { " a\($0)='\($0)'" }.joined()
        let found = try #require(error("<r>\n<a\(attributes)/></r>"))
        #expect(found.kind == .limitExceeded)
        #expect(found.line == 2)
        #expect(found.byteOffset == 4)
        let most = (0..<256).map { " a\($0)='=>='" }.joined()
        #expect(try XML.Document("<a\(most)/>").root.attributes.count == 256)
    }

    @Test(arguments: [
        "<!--> <![CDATA[ --><a%/><!-- ]]> -->", "<?x <!-- ?><a%/><?x --> ?>", "<r><![CDATA[<!--]]><a%/><!-- --></r>",
        "<r b='>'><a%/></r>", "<r b='\"'><a%/></r>", "<r>\"<a%/></r>",
    ])
    func tooManyAttributesCannotBeHidden(text: String) {
        let attributes = (0..<1_000).map { " a\($0)=''" }.joined()
        #expect(error(text.replacing("%", with: attributes))?.kind == .limitExceeded)
    }

    @Test func textResemblingAttributesIsNotCounted() throws {
        let looks = String(repeating: "<a b='' c=''=''", count: 1_000) + String(repeating: "=", count: 1_000)
        let document = try XML.Document(
            "<r b='\(String(repeating: "=", count: 1_000))'><!--\(looks)--><![CDATA[\(looks)]]></r>")
        #expect(document.root.text == looks)
    }

    @Test func tooManyNamespacesAreRejected() throws {
        let level = (0..<200).map { " xmlns:p\($0)='u\($0)'" }.joined()
        let text = "<a\(level)><b\(level)><c/></b></a>"
        #expect(error(text)?.kind == .limitExceeded)
        #expect(throws: Never.self) { _ = try XML.Document(text, options: XML.ParsingOptions(maximumNamespaces: 400)) }
    }

    @Test func longDocumentsAreRejected() throws {
        let found = try #require(error("<a>0123456789</a>", XML.ParsingOptions(maximumBytes: 16)))
        #expect(found.kind == .limitExceeded)
    }

    @Test func longNamesAttributesAndCommentsAreRejected() throws {
        let vast = String(repeating: "x", count: 10_000_100)
        #expect(error("<a b='\(vast)'/>")?.kind == .limitExceeded)
        #expect(error("<a><!--\(vast)--></a>")?.kind == .limitExceeded)
        #expect(error("<a\(vast.prefix(60_000))/>")?.kind == .limitExceeded)
        #expect(error("<a>&lt;\(vast)&lt;</a>")?.kind == .limitExceeded)
    }
}
