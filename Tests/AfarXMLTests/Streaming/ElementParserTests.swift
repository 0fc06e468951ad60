import AfarCore
import AfarSerializers
import AfarXML
import Foundation
import Testing

@Suite struct ElementParserTests {
    private let text = """
        <?xml version="1.0"?><!-- head --><f:feed xmlns:f="urn:f" xmlns="urn:d" xmlns:x="urn:x">
        <f:entry x:id="1">one<b>ä</b><!-- in --></f:entry><f:other><f:entry x:id="2"><f:entry x:id="3"/></f:entry></f:other>
        <f:entry xmlns:x="urn:y" x:id="4"><![CDATA[<four>]]></f:entry><?end?></f:feed>
        """

    private func elements(
        _ pattern: String, _ namespaces: [String: String] = ["g": "urn:f"], cutAt step: Int = .max
    ) -> [Result<String, AFError>] {
        var parser = XML.ElementParser(matching: pattern, namespaces: namespaces) { element in
            element.attribute("id", namespace: "urn:x") ?? element.attribute("id", namespace: "urn:y") ?? "none"
        }
        return parser.all(of: Data(text.utf8), cutAt: step)
    }

    @Test(arguments: [
        ("g:entry", ["1", "2", "4"]), ("//g:entry", ["1", "2", "4"]), ("/g:feed/g:entry", ["1", "4"]),
        ("g:other/g:entry", ["2"]), ("g:entry/g:entry", ["3"]), ("entry", []), ("/g:entry", []),
        ("g:none | g:other", ["none"]),
    ])
    func elementsAreChosenByTheirPath(pattern: String, ids: [String]) throws {
        #expect(try elements(pattern).map { try $0.get() } == ids)
    }

    @Test func chunkBoundariesDoNotMatter() throws {
        for step in 1...40 {
            #expect(try elements("g:entry", cutAt: step).map { try $0.get() } == ["1", "2", "4"])
        }
    }

    @Test func anElementCanBeStored() throws {
        var kept: [XML.Element] = []
        do {
            var parser = XML.ElementParser(matching: "g:entry", namespaces: ["g": "urn:f"]) { $0 }
            kept = try parser.all(of: Data(text.utf8), cutAt: 7).map { try $0.get() }
        }
        #expect(kept.map(\.text) == ["oneä", "", "<four>"])
        #expect(kept.map(\.namespaceURI) == ["urn:f", "urn:f", "urn:f"])
        #expect(kept[0].first(named: "b")?.namespaceURI == "urn:d")
        #expect(kept[0].namespaceDeclarations == ["f": "urn:f", "": "urn:d", "x": "urn:x"])
        #expect(kept[2].namespaceDeclarations["x"] == "urn:y")
        #expect(try XML.Document(kept[2].xmlString()).root.attribute("id", namespace: "urn:y") == "4")
        #expect(kept.allSatisfy { $0.parent == nil && $0.document.root == $0 })
    }

    /// The element has its own copies of all names, so equal names have different addresses in the element and the
    /// parser.
    @Test func aStoredElementCanBeDecoded() throws {
        struct Value: Decodable, Equatable {
            let b: String
            let a: [String]
            let c: [Choice]
        }
        enum Choice: Decodable, Equatable, XMLChoice { case x(Int), y(Int) }
        var parser = XML.ElementParser(matching: "v") { $0 }
        let text = "<r><v><a>1</a><x>1</x><b>2</b><a>3</a><y>2</y><x>3</x><a>4</a></v></r>"
        let element = try #require(parser.all(of: Data(text.utf8), cutAt: 9).first).get()
        let value = try XMLDecoder().decode(Value.self, from: element)
        #expect(value == Value(b: "2", a: ["1", "3", "4"], c: [.x(1), .y(2), .x(3)]))
    }

    @Test func anErrorIsTheLastResult() throws {
        var parser = XML.ElementParser(matching: "a") { $0.text }
        let results = parser.all(of: Data("<r><a>1</a><a>2</a><b></r>".utf8), cutAt: 5)
        #expect(try results.prefix(2).map { try $0.get() } == ["1", "2"])
        #expect(results.count == 3)
        let error = #expect(throws: AFError.self) { _ = try results[2].get() }
        #expect((error?.underlyingError as? XML.Error)?.line == 1)
        #expect(parser.parse(Data("<a/>".utf8)).isEmpty, "there are no results after the error")
    }

    @Test(arguments: ["", " ", "<r><a>1</a>", "<r/><r/>", "<r/>\0", "<!DOCTYPE r><r/>", "<r>&e;</r>", "<r"])
    func incompleteDocumentsFail(text: String) throws {
        for step in [1, 3, 1_000] {
            var parser = XML.ElementParser(matching: "a") { $0.text }
            let last = try #require(parser.all(of: Data(text.utf8), cutAt: step).last)
            #expect(throws: AFError.self) { _ = try last.get() }
        }
    }

    @Test func aThrowingTransformLosesOnlyItsElement() throws {
        struct Odd: Error {}
        var parser = XML.ElementParser(matching: "a") { element in
            guard let number = Int(element.text) else { throw Odd() }
            return number
        }
        let results = parser.all(of: Data("<r><a>1</a><a>x</a><a>3</a></r>".utf8), cutAt: 4)
        #expect(results.map { try? $0.get() } == [1, nil, 3])
    }

    @Test(arguments: ["", "a[1]", "p:a", "a/", "\0", "(a", "@a", "a/@b", "a|@b", ".", "attribute::a"])
    func anInvalidPatternIsAnError(pattern: String) throws {
        var parser = XML.ElementParser(matching: pattern) { $0.text }
        let results = parser.all(of: Data("<a/>".utf8), cutAt: 100)
        let error = #expect(throws: AFError.self) { _ = try #require(results.first).get() }
        #expect((error?.underlyingError as? XML.Error)?.kind == .invalidXPath)
        #expect(results.count == 1)
    }

    @Test func limitsApplyToStreams() throws {
        func last(_ text: String, _ options: XML.ParsingOptions = .init()) throws -> XML.Error? {
            var parser = XML.ElementParser(matching: "a", options: options) { $0.text }
            let last = try #require(parser.all(of: Data(text.utf8), cutAt: 100).last)
            let error = #expect(throws: AFError.self) { _ = try last.get() }
            return error?.underlyingError as? XML.Error
        }
        #expect(try last(String(repeating: "<a>", count: 300))?.kind == .limitExceeded)
        #expect(try last("<r><b" + (0..<300).map { " a\($0)=''" }.joined() + "/></r>")?.kind == .limitExceeded)
        #expect(
            try last("<r><a>" + String(repeating: "x", count: 9_000) + "</a></r>", .init(maximumBytes: 5_000))?.kind
                == .limitExceeded)
    }

    @Test func limitsApplyToEachElement() throws {
        let element = "<a>" + String(repeating: "x", count: 1_000) + "</a>"
        let text = "<r>" + String(repeating: element, count: 200) + "</r>"
        var parser = XML.ElementParser(matching: "a", options: .init(maximumBytes: 2_000)) { $0.text.count }
        #expect(
            try parser.all(of: Data(text.utf8), cutAt: 700).map { try $0.get() } == Array(repeating: 1_000, count: 200))
    }

    /// Each element would contain its own copy of the namespace.
    @Test func longNamespacesAreRejected() throws {
        let text = "<r xmlns:p='\(String(repeating: "u", count: 100_000))'><a/></r>"
        var parser = XML.ElementParser(matching: "a") { $0.text }
        let last = try #require(parser.all(of: Data(text.utf8), cutAt: 10_000).last)
        let error = #expect(throws: AFError.self) { _ = try last.get() }
        #expect((error?.underlyingError as? XML.Error)?.kind == .limitExceeded)
    }

    @Test func aTruncatedLastCharacterIsInvalid() throws {
        var parser = XML.ElementParser(matching: "a", options: .init(encoding: .shiftJIS)) { $0.text }
        let last = try #require(parser.all(of: Data("<a/>".utf8) + [0x81], cutAt: 3).last)
        let error = #expect(throws: AFError.self) { _ = try last.get() }
        #expect((error?.underlyingError as? XML.Error)?.kind == .invalidBytes)
    }

    @Test func aCopyOfAParserStartsOver() throws {
        let parser = XML.ElementParser(matching: "a") { $0.text }
        for _ in 0..<2 {
            var copy = parser
            #expect(try copy.all(of: Data("<a>1</a>".utf8), cutAt: 3).map { try $0.get() } == ["1"])
        }
    }

    @Test func anAbandonedParserLeaksNothing() {
        for length in 0..<text.utf8.count {
            var parser = XML.ElementParser(matching: "g:entry", namespaces: ["g": "urn:f"]) { $0.text }
            _ = parser.parse(Data(text.utf8.prefix(length)))
        }
    }
}

extension DataStreamParser {
    /// Returns all results for a body that arrives in chunks of the given size.
    mutating func all(of body: Data, cutAt step: Int) -> [Result<Value, AFError>] {
        var results: [Result<Value, AFError>] = []
        var rest = body
        while !rest.isEmpty {
            results += parse(rest.prefix(step))
            rest = rest.dropFirst(step)
        }
        return results + finish()
    }
}
