import AfarTestServer
import Foundation
import Testing

/// Bodies and header fields can't control a terminal, whatever their type.
struct TerminalSafetyTests {
    /// Characters that steer terminals: ESC, CSI, a title sequence, DEL, CR, and a change of direction. A body with others, such as BEL, is
    /// described as binary data.
    private static let hostile = "\u{1B}[2J\u{9B}1m\u{1B}]0;x\u{9C}\u{7F}\rx\u{202E}"

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            "text/html", "text/xml", "application/xhtml+xml", "image/svg+xml", "application/json", "text/plain",
            "image/png",
            "text/\u{9B}html",
        ])
    func controlCharactersAreNotWritten(type: String) async throws {
        let text = Self.hostile
        let json = text.replacing("\u{1B}", with: "\\u001b").replacing("\r", with: "")
        let body =
            type.contains("json")
            ? "{\"\(json)\":\"\(json)\"}"
            : "<a b=\"\(text)\" c='\(text)'>\(text)<!--\(text)--><![CDATA[\(text)]]>&\(text);<\(text)></a>"
        let server = try await RawServer.start([
            .respond(
                "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nX-A: \u{9B}2J\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            ),
            .close,
        ])
        let outcome = try await Tool.runOnTerminal("get", server.url.absoluteString, "-p", "HBhbm")
        #expect(outcome.status == 0, "\(outcome.errors)")
        // What remains are the tool's own colors.
        let rest = outcome.text.replacing(/\u{1B}\[[0-9]*m/, with: "")
        let unsafe = rest.unicodeScalars.filter {
            $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value) || $0 == "\u{202E}"
        }
        #expect(unsafe.isEmpty, "\(rest.debugDescription)")
        #expect(rest.contains("X-A: \\u009B2J\n"))
        #expect(rest.contains("\\u009B1m") == (type != "image/png"))
    }

    @Test(.timeLimit(.minutes(10))) func aURLInTheLineForAnImageIsSafe() async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nxx"), .close,
        ])
        let outcome = try await Tool.runOnTerminal(
            "get", server.url.absoluteString + "?a=1&token=hush;$(x)", "-p", "b", "--color", "never")
        #expect(
            outcome.text
                == "(2 bytes of image/png. To show it, use afar image '\(server.url.absoluteString)?a=1&token=***')\n")
    }

    @Test(.timeLimit(.minutes(10))) func htmlIsColored() async throws {
        let server = try await TestServer.start()
        server.route("/page") { _ in .content("text/html", Data("<p class=x>&lt;</p>".utf8)) }
        let outcome = try await Tool.runOnTerminal("get", server.url("/page").absoluteString, "--body")
        #expect(
            outcome.text == "\u{1B}[36m<p\u{1B}[0m \u{1B}[33mclass\u{1B}[0m=\u{1B}[32mx\u{1B}[0m\u{1B}[36m>\u{1B}[0m"
                + "\u{1B}[35m&lt;\u{1B}[0m\u{1B}[36m</p\u{1B}[0m\u{1B}[36m>\u{1B}[0m\n")
    }

    @Test(.timeLimit(.minutes(10))) func escapesInJSONAreShownAsCharacters() async throws {
        let server = try await TestServer.start()
        server.route("/json-text") { _ in .content("application/json", Data(#"{"a":"\u00e9\u202e\u001b"}"#.utf8)) }
        let url = server.url("/json-text").absoluteString
        let outcome = try await Tool.runOnTerminal("get", url, "--body", "--color", "never")
        #expect(outcome.text == "{\n  \"a\": \"é\\u202e\\u001b\"\n}\n")
        #expect(try await Tool.run("get", url).text == #"{"a":"\u00e9\u202e\u001b"}"#)
    }
}
