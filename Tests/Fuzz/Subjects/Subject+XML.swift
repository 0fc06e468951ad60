import AfarCore
import AfarXML
import Foundation

extension Subject {
    static let xml = [
        Subject("xml-tree", seeds: xmlSeeds, tokens: xmlTokens) { (input, random) throws(Contradiction) in
            let options = parsingOptions(&random)
            guard let document = try? XML.Document(input, contentType: contentType(&random), options: options) else {
                return false
            }
            visit(document)
            try checkSerialization(of: document, prettyPrinted: false)
            try checkSerialization(of: document, prettyPrinted: true)
            return true
        },
        Subject("xml-push", seeds: xmlSeeds, tokens: xmlTokens) { (input, random) throws(Contradiction) in
            let options = parsingOptions(&random)
            let chunks = random.chunks(of: input)
            let isWhole = try checkCuts(XML.EventParser(options: options), input, chunks, joined)
            let pattern = random.pick(["//b", "a/c", "feed/*", "/feed/x:entry | item", "*"]) ?? "*"
            let elements = XML.ElementParser(matching: pattern, namespaces: ["x": "http://x/"], options: options) {
                $0.xmlString()
            }
            _ = try checkCuts(elements, input, chunks) { $0 }
            let isDocument = (try? XML.Document(input, options: options)) != nil
            try Contradiction.check(isWhole, isDocument, "whether it is a document, for the stream and for the tree")
            return isWhole
        },
        Subject("html", seeds: htmlSeeds, tokens: htmlTokens) { (input, random) throws(Contradiction) in
            guard let page = try? XML.Document(html: input, contentType: contentType(&random)) else { return false }
            visit(page)
            _ = page.xmlString(prettyPrinted: random.isOne(in: 2))
            return true
        },
        Subject("xpath", seeds: xpathSeeds, tokens: xpathTokens) { (input, random) throws(Contradiction) in
            guard let library else { return false }
            let expression = String(decoding: input, as: UTF8.self)
            let place = random.isOne(in: 2) ? library.node : library.root.first(named: "book")?.node ?? library.node
            do throws(XML.Error) {
                let found = try place.xpath(
                    expression, namespaces: ["p": "http://p/"], maximumSteps: random.isOne(in: 8) ? 10_000_000 : 100_000
                )
                _ = (found.string, found.number, found.boolean, found.nodes.map(\.path), found.elements.map(\.name))
                return true
            } catch {
                if let place = error.byteOffset {
                    try Contradiction.check(
                        (0...expression.utf8.count).contains(place), true, "byte \(place) of \(expression.utf8.count)")
                }
                return false
            }
        },
        Subject("xml-decoder", seeds: xmlSeeds, tokens: xmlTokens) { (input, random) throws(Contradiction) in
            var decoder = XMLDecoder()
            decoder.parsingOptions = parsingOptions(&random)
            if random.isOne(in: 3) { decoder.keyDecodingStrategy = .convertFromSnakeCase }
            return [
                succeeds { try decoder.decode(Outline.self, from: input) },
                succeeds { try decoder.decode(Feed.self, from: input) },
                succeeds { try decoder.decode([String: String].self, from: input) },
                succeeds { try decoder.decode([[String]].self, from: input) },
            ]
            .contains(true)
        },
    ]

    private static let xmlSeeds = [
        "<a><b c='d'>text</b><c/><b>more &lt; &#x263A;</b></a>",
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <feed xmlns="http://f/" xmlns:x="http://x/"><title type="text">T</title><!-- c -->
          <x:entry id="1" x:n="2"><when>2026-11-21T10:00:00.5Z</when><link href="/1"/><count>17</count></x:entry>
          <x:entry id="2"><when>2026-11-20</when><ok>true</ok><ratio>-1.5E3</ratio><bytes>QWRh</bytes></x:entry>
        </feed>
        """,
        "<feed><entry id='1'><count>17</count><ok>1</ok></entry><entry id='2'><count>-3</count></entry></feed>",
        "<item name='a'><item name='b'><item name='c'>x</item></item><item/></item>",
        "<a><![CDATA[<&]]]]><![CDATA[>]]><?target data?><b xml:space='preserve'> <c/> </b></a>",
        "<!DOCTYPE a [<!ENTITY e 'x'><!ELEMENT a ANY>]><a>&amp;<b/></a>",
        """
        <feed xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><entry id='1'><count xsi:nil='true'/></entry></feed>
        """,
        "<?xml version='1.0' encoding='ISO-8859-1'?><a b='\u{E9}'>\u{E9}</a>",
    ]

    private static let xmlTokens = [
        "<", ">", "</", "/>", "<a>", "</a>", "<b>", "</b>", "<item>", "<b c='d'/>", "&lt;", "&#0;", "&#x10FFFF;", "&e;",
        "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>", "<?xml version='1.0' encoding='UTF-16'?>", "encoding='gbk'",
        "<!DOCTYPE a [", "<!ENTITY e SYSTEM 'file:///etc/passwd'>", "<!ENTITY % p 'x'>", "%p;",
        "<!ATTLIST a b CDATA 'c'>",
        "xmlns=''", " xmlns:p='u'", " xmlns:xml='x'", "p:", " b='", "\"", "xml:space='preserve'", "\u{FEFF}", "]]",
        "=''",
        "<count>", "999999999999999999999", "NaN", "INF", "0000-00-00T24:61:61Z", "<entry>",
    ]

    private static let htmlSeeds = [
        "<!DOCTYPE html><html><head><meta charset=utf-8><title>T</title></head><body><p>One<p>Two<br>&nbsp;&eacute;</html>",
        "<table><tr><td>1<td>2<tr><td><b><i>x</b></i></table><form><input name=a value='b'><select><option>1</select>",
        "<p><a href=\"x\">y</a><script>if (a<b) { \"</p>\" }</script><style>p > a {}</style><!-- c --></p>",
        "<meta http-equiv='Content-Type' content='text/html; charset=shift_jis'><ul><li>\u{65E5}<li>b<ul><li>c</ul></ul>",
    ]

    private static let htmlTokens = [
        "<", ">", "</", "<p>", "<div>", "<table>", "<tr>", "<td>", "<b>", "<i>", "</b>", "<body>", "<html>", "<head>",
        "<script>", "</script>", "<!--", "-->", "&nbsp;", "&#", "&#x", "&amp", "<a href=", "<br/>", "<form>",
        "<select>",
        "<option>", "<meta charset=", "<title>", "<textarea>", "<svg:x>", "<!DOCTYPE", "<?php", " class='", "\"",
    ]

    private static let xpathSeeds = [
        "//book[@id='2']/title", "count(/library/book)", "string(//title[1])", "/library/book[position() < last()]/@id",
        "//p:note/text() | //comment() | //processing-instruction('x')", "sum(//price) div 2 + -1 * (3 mod 2)",
        "substring-before(concat(//title, '-', normalize-space(' a ')), '-')", "not(contains(//title, 'x')) and true()",
        "translate(string(.), 'abc', 'AB')",
        "ancestor-or-self::*[self::book or self::library]/following-sibling::node()",
        "id('2')/../namespace::*", "format-number(1, '#')", "book[price > 10][2]/preceding::*",
        "//*[name() = local-name()]",
    ]

    private static let xpathTokens = [
        "/", "//", "..", ".", "@", "*", "[", "]", "(", ")", "|", "and ", "or ", "div ", "mod ", "-", "+", "=", "!=",
        "<=",
        "'", "\"", "::", "ancestor::", "namespace::", "following::", "$x", "p:", "q:", "text()", "node()", "last()",
        "position()", "count(", "string(", "concat(", "id(", "sum(", "substring(", "round(", "1e999", "0.5", "-0",
        "//*",
        "[//*]", "[1]", "processing-instruction(",
    ]

    private static let library = try? XML.Document(
        """
        <library xmlns:p="http://p/"><!-- books -->
          <book id="1"><title>A tale</title><price>12.5</price></book>
          <book id="2"><title>Another</title><price>7</price><p:note xml:lang="en">n</p:note></book>
          <?x y?><shelf><book id="3"><title/></book></shelf>
        </library>
        """)

    private static func parsingOptions(_ random: inout SeededGenerator) -> XML.ParsingOptions {
        XML.ParsingOptions(documentType: random.isOne(in: 2) ? .ignored : .refused)
    }

    private static func contentType(_ random: inout SeededGenerator) -> String? {
        random.pick([nil, nil, "text/xml", "text/html; charset=windows-1252", "a/b; charset=gb18030", "a/b;charset=x"])
            ?? nil
    }

    /// Accesses all properties of a document.
    private static func visit(_ document: XML.Document) {
        for element in chain([document.root], document.root.descendants) {
            _ = (
                element.name, element.text.utf8.count, element.line, element.namespaceURI, element.namespaceDeclarations
            )
            for attribute in element.attributes { _ = (attribute.name, attribute.value, attribute.parent) }
            for node in element.nodes { _ = (node.kind, node.text.utf8.count, node.parent, node.prefix) }
            _ = (element.next, element.previous, element.first(named: "b"), element["c"])
        }
        _ = document.root.descendants.prefix(20).map(\.path)
        _ = document.warnings.map(\.description)
    }

    private static func chain(
        _ first: [XML.Element], _ rest: some Sequence<XML.Element>
    ) -> some Sequence<XML.Element> {
        [AnySequence(first), AnySequence(rest)].joined()
    }

    /// Parsing the serialized document must return the same document.
    private static func checkSerialization(
        of document: XML.Document, prettyPrinted: Bool
    ) throws(Contradiction) {
        let text = document.xmlString(prettyPrinted: prettyPrinted)
        let options = XML.ParsingOptions(documentType: .ignored)
        do throws(XML.Error) {
            let again = try XML.Document(text, options: options).xmlString(prettyPrinted: prettyPrinted)
            guard again == text else { throw XML.Error(.malformed, "the document differs: \(again)") }
        } catch {
            throw Contradiction("serialized XML (pretty-printed: \(prettyPrinted)) can't be parsed: \(error): \(text)")
        }
    }

    /// Checks that the results are the same for any chunks of the input, and returns whether the input is a valid
    /// document. With larger chunks, the parser may reject an invalid document earlier.
    private static func checkCuts<Parser: DataStreamParser, Shape: Equatable>(
        _ parser: Parser, _ input: Data, _ chunks: [Data], _ shape: ([Parser.Value]) -> [Shape]
    ) throws(Contradiction) -> Bool {
        let runs = [results(of: parser, [input]), results(of: parser, chunks)]
        let values = runs.map { shape($0.compactMap { try? $0.get() }) }
        let isWhole = runs.map { $0.allSatisfy { if case .success = $0 { true } else { false } } }
        try Contradiction.check(isWhole[0], isWhole[1], "\(Parser.self), cut: whether it is a document")
        let count = isWhole[0] ? max(values[0].count, values[1].count) : min(values[0].count, values[1].count)
        try Contradiction.check(
            Array(values[0].prefix(count)), Array(values[1].prefix(count)), "\(Parser.self), cut")
        return isWhole[0]
    }

    /// Joins consecutive text events, because text can arrive in several pieces. Omits text at the end.
    private static func joined(_ events: [XML.Event]) -> [XML.Event] {
        var joined: [XML.Event] = []
        var text = ""
        for event in events {
            if case .text(let piece) = event {
                text += piece
                continue
            }
            if !text.isEmpty { joined.append(.text(text)) }
            text = ""
            joined.append(event)
        }
        return joined
    }

    private static func succeeds<Value>(_ decode: () throws -> Value) -> Bool {
        do {
            _ = try decode()
            return true
        } catch {
            _ = "\(error)"
            return false
        }
    }
}

private struct Outline: Decodable {
    let name: String?
    let item: [Outline]
    @XMLText var text: String
}

private struct Feed: Decodable {
    struct Entry: Decodable {
        @XMLAttribute var id: Int
        let count: UInt8?
        let when: Date?
        let ok: Bool?
        let ratio: Double?
        let bytes: Data?
        let link: URL?
    }

    let title: String?
    let entry: [Entry]
}
