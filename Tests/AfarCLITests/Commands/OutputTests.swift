import AfarTestServer
import Foundation
import Testing

/// The tool's output to pipes and terminals.
struct OutputTests {
    private static let json = #"{"id":7,"name":"Ada","tags":["first","second"],"active":true}"#

    @Test(arguments: ["afar", "urlsession"])
    func aPipeReceivesTheUnchangedBytes(transport: String) async throws {
        let server = try await TestServer.start()
        let url = server.url("/bytes/300000?seed=5").absoluteString
        let outcome = try await Tool.run("get", url, "--transport", transport)
        var bytes = PseudoRandomBytes(seed: 5)
        #expect(outcome.output == Data(bytes.next(300_000)))
        #expect(try await Tool.run("get", server.url("/json").absoluteString).text == Self.json)
        #expect(try await Tool.run("get", server.url("/empty").absoluteString).output.isEmpty)
    }

    @Test func includePrintsTheHeadFirst() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("get", server.url("/response-headers?X-A=1&X-A=2").absoluteString, "-i")
        let parts = outcome.text.components(separatedBy: "\n\n")
        #expect(parts.count == 2)
        #expect(parts[0].hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(parts[0].contains("\nX-A: 1\nX-A: 2"))
        #expect(parts.last == #"{"args":{"X-A":["1","2"]}}"#)
    }

    @Test func alwaysColorsOutputInAPipeToo() async throws {
        let server = try await TestServer.start()
        let url = server.url("/json").absoluteString
        let coloured = try await Tool.run("get", url, "--color", "always", environment: ["NO_COLOR": "1"])
        #expect(coloured.text.contains("\n  \u{1B}[34m\"id\"\u{1B}[0m: \u{1B}[33m7\u{1B}[0m,\n"))
        #expect(try await Tool.run("get", url, "--color", "never").text == Self.json)
    }

    @Test func aTerminalReceivesColorsAndIndentedJSON() async throws {
        let server = try await TestServer.start()
        let url = server.url("/json").absoluteString
        let coloured = try await Tool.runOnTerminal("get", url)
        #expect(coloured.text.hasPrefix("HTTP/1.1 \u{1B}[32m200 OK\u{1B}[0m\n"))
        #expect(coloured.text.contains("\u{1B}[34m\"name\"\u{1B}[0m: \u{1B}[32m\"Ada\"\u{1B}[0m"))
        let plain = """
            {
              "id": 7,
              "name": "Ada",
              "tags": [
                "first",
                "second"
              ],
              "active": true
            }

            """
        #expect(try await Tool.runOnTerminal("get", url, "--body", environment: ["NO_COLOR": "1"]).text == plain)
        #expect(try await Tool.runOnTerminal("get", url, "--body", environment: ["TERM": "dumb"]).text == plain)
        #expect(try await Tool.runOnTerminal("get", url, "--body", "--color", "never").text == plain)
    }

    @Test func aTerminalReceivesTextButNoBinaryData() async throws {
        let server = try await TestServer.start()
        func shown(_ path: String) async throws -> String {
            try await Tool.runOnTerminal("get", server.url(path).absoluteString, "--body", "--color", "never").text
        }
        #expect(try await shown("/xml").contains("\n<person id=\"7\">\n  <name>Ada</name>\n"))
        #expect(try await shown("/plist/binary").contains("<string>Ada</string>"))
        #expect(try await shown("/encoding/shift_jis") == "日本語\n")
        #expect(
            try await shown("/image/png").contains(
                "image/png. To show it, use afar image \(server.url("/image/png").absoluteString))"))
        #expect(try await shown("/status/204") == "204 No Content, no body\n")
    }

    @Test func aCharsetIsConvertedForAPipe() async throws {
        let server = try await TestServer.start()
        let url = server.url("/encoding/shift_jis").absoluteString
        #expect(try await Tool.run("get", url).output.first == 0x93)
        #expect(try await Tool.run("get", url, "--charset", "Shift_JIS").text == "日本語")
        let unknown = try await Tool.run("get", url, "--charset", "utf-9")
        #expect(unknown.status == 2)
        #expect(unknown.errors.contains("shift_jis") && unknown.errors.contains("--charset"))
    }

    @Test func aClosedPipeEndsTheToolQuietly() async throws {
        let server = try await TestServer.start()
        let url = server.url("/large/5000000").absoluteString
        let outcome = try await Tool.bash("set -o pipefail; \"$afar\" get '\(url)' | head -c 3")
        #expect(outcome.output == Data(PatternBytes.bytes(0..<3)))
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
    }

    @Test func outputThatCannotBeWrittenIsAnError() async throws {
        let server = try await TestServer.start()
        let url = server.url("/json").absoluteString
        let closed = try await Tool.bash("\"$afar\" get '\(url)' >&-")
        #expect(closed.status == 70)
        #expect(closed.errors.hasPrefix("afar: The output cannot be written: "))
        #expect(try await Tool.bash("\"$afar\" --help >&-").status == 70)
        #expect(try await Tool.bash("\"$afar\" get '\(url)' 2>&- <&-").text == Self.json)
    }

    @Test func versionAndHelp() async throws {
        #expect(try await Tool.run("--version").text.hasPrefix("afar 0."))
        let help = try await Tool.run("--help")
        #expect(help.status == 0)
        for code in [0, 1, 2, 3, 4, 5, 6, 70] { #expect(help.text.contains("\n  \(code < 10 ? " " : "")\(code)  ")) }
        let nothing = try await Tool.run()
        #expect(nothing.status == 2 && nothing.text == "" && nothing.errors == help.text)
        let get = try await Tool.run("get", "--help")
        #expect(get.text.contains("--query") && get.text.contains("afar get <url>"))
    }
}
