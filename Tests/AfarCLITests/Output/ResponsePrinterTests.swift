import Afar
import Foundation
import HTTPTypes
import Testing

@testable import AfarCLI

struct ResponsePrinterTests {
    private func printed(_ style: Style, includesHead: Bool = false, _ body: String, type: String = "") -> String {
        let head = ResponseHead(status: 299, fields: [.contentType: type], url: "http://x/")
        let printer = ResponsePrinter(style: style, includesHead: includesHead)
        return String(decoding: printer.output(head: head, body: Data(body.utf8)), as: UTF8.self)
    }

    private let pretty = Style(isPretty: true, isColored: false)

    @Test func plainOutputIsUnchanged() {
        #expect(printed(.plain, "[1,\u{1B}]") == "[1,\u{1B}]")
        #expect(printed(.plain, includesHead: true, "x", type: "a/b") == "HTTP/1.1 299\nContent-Type: a/b\n\nx")
    }

    @Test func prettyEndsWithALineBreak() {
        #expect(printed(pretty, "[1]") == "[\n  1\n]\n")
        #expect(printed(pretty, "text") == "text\n")
        #expect(printed(pretty, "text\n") == "text\n")
    }

    @Test func controlCharactersAreEscapedOnATerminal() {
        #expect(
            printed(pretty, "\u{1B}]0;title\u{7}")
                == "(10 bytes of binary data, not shown on a terminal. To save it, use > name)\n")
        #expect(printed(pretty, "\u{1B}[2J") == "\\u001B[2J\n")
        #expect(printed(pretty, "\0", type: "a\u{9B}b").hasPrefix("(1 byte of a"))
    }

    @Test func xmlIsIndentedIfTheTypeIsXML() {
        let xml = "<a><b>x</b><c/></a>"
        #expect(
            printed(pretty, xml, type: "application/rss+xml; charset=utf-8")
                == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a>\n  <b>x</b>\n  <c/>\n</a>\n")
        #expect(printed(.plain, xml, type: "text/xml") == xml)
        for type in ["text/html", "application/xhtml+xml", "text/plain", ""] {
            #expect(printed(pretty, xml, type: type) == xml + "\n")
        }
    }

    @Test(arguments: ["<a><b></a>", "<!DOCTYPE a [<!ENTITY e 'x'>]><a><b/>&e;</a>", "not <xml"])
    func invalidXMLIsPrintedUnchanged(text: String) {
        #expect(printed(pretty, text, type: "text/xml") == text + "\n")
    }

    @Test func controlCharactersInXMLAreEscapedOnATerminal() {
        #expect(printed(pretty, "<a>&#x9B;2J</a>", type: "text/xml").hasSuffix("<a>\\u009B2J</a>\n"))
    }

    @Test func theCharsetOptionOverridesTheResponses() {
        let head = ResponseHead(status: 200, fields: [.contentType: "text/plain; charset=utf-8"], url: "http://x/")
        let bytes = Data([0xF0, 0xD2, 0xC9])
        func printed(_ style: Style) -> Data {
            ResponsePrinter(style: style, includesHead: false, charset: TextEncoding(label: "koi8-r"))
                .output(head: head, body: bytes)
        }
        #expect(printed(pretty) == Data("При\n".utf8))
        #expect(printed(.plain) == Data("При".utf8))
    }

    @Test func malformedBytesAreReplaced() {
        let head = ResponseHead(status: 200, url: "http://x/")
        let printer = ResponsePrinter(style: .plain, includesHead: false, charset: .utf8)
        #expect(printer.output(head: head, body: Data([0x61, 0xFF])) == Data("a\u{FFFD}".utf8))
    }
}
