import Afar
import Foundation
import HTTPTypes
import Testing

@testable import AfarCLI

struct ResponsePrinterTests {
    private func printed(_ style: Style, includesHead: Bool = false, _ body: String, type: String = "") -> String {
        let head = ResponseHead(status: 299, fields: [.contentType: type], url: "http://x/")
        let printer = ResponsePrinter(style: style, includesHead: includesHead)
        return String(decoding: printer.output(head: head, body: Data(body.utf8), text: body), as: UTF8.self)
    }

    private let pretty = Style(isPretty: true, isColoured: false)

    @Test func plainIsUntouched() {
        #expect(printed(.plain, "[1,\u{1B}]") == "[1,\u{1B}]")
        #expect(printed(.plain, includesHead: true, "x", type: "a/b") == "HTTP/1.1 299\nContent-Type: a/b\n\nx")
    }

    @Test func prettyEndsWithALineBreak() {
        #expect(printed(pretty, "[1]") == "[\n  1\n]\n")
        #expect(printed(pretty, "text") == "text\n")
        #expect(printed(pretty, "text\n") == "text\n")
    }

    @Test func serverCannotSteerTheTerminal() {
        #expect(
            printed(pretty, "\u{1B}]0;title\u{7}")
                == "(10 bytes of binary data: not for a terminal, write it to a file with > name)\n")
        #expect(printed(pretty, "\u{1B}[2J") == "\\u001B[2J\n")
        #expect(printed(pretty, "\0", type: "a\u{9B}b").hasPrefix("(1 byte of a"))
    }
}
