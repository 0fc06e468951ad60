import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The output of `afar get --sse` and `--sse-json`.
struct EventTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    @Test(arguments: ["afar", "urlsession"])
    func eventsAreReadable(transport: String) async throws {
        let server = try await RawServer.start([
            .respond(Self.head + ": hello\n\ndata: one\ndata:\ndata: three\n\nevent: add\nid: 7\ndata: {\"a\":1}\n\n"),
            .close,
        ])
        let outcome = try await Tool.run("get", server.url.absoluteString, "--sse", "--transport", transport)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "message\n  one\n  \n  three\nadd 7\n  {\"a\":1}\n")
        #expect(outcome.errors == "")
        #expect(server.requests.first?.lowercased().contains("accept: text/event-stream\r\n") == true)
    }

    @Test func eventsAreJSON() async throws {
        let server = try await RawServer.start([
            .respond(Self.head + "data: \"one\"\\\ndata: ü\t\n\nevent: add\nid: 7\ndata\n\n"), .close,
        ])
        let outcome = try await Tool.run("get", server.url.absoluteString, "--sse-json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: UInt8(ascii: "\n"))
        let events = try lines.map { try JSONDecoder().decode([String: String].self, from: $0) }
        #expect(
            events == [
                ["event": "message", "id": "", "data": "\"one\"\\\nü\t"], ["event": "add", "id": "7", "data": ""],
            ])
    }

    /// The server sends each event only after the previous one has been printed.
    @Test func eachEventIsPrintedImmediately() async throws {
        let server = try await TestServer.start()
        let turns = DispatchSemaphore(value: 0)
        server.route("/feed") { _ in
            ServerResponse(headers: ["Content-Type": "text/event-stream"]) { body in
                for number in 1...5 {
                    try body.write("data: \(number)\n\n")
                    turns.wait()
                }
            }
        }
        server.route("/next") { _ in
            turns.signal()
            return .text("")
        }
        let outcome = try await Tool.bash(
            """
            "$afar" get '\(server.url("/feed"))' --sse-json --timeout 60 | while read -r line; do
                echo "$line"
                "$afar" get '\(server.url("/next"))'
            done
            """)
        #expect(outcome.errors == "")
        #expect(outcome.text == (1...5).map { "{\"event\":\"message\",\"id\":\"\",\"data\":\"\($0)\"}\n" }.joined())
    }

    @Test func controlCharactersAreEscapedOnATerminal() async throws {
        let server = try await RawServer.start([
            .respond(Self.head + "event: \u{1B}[2J\nid: \u{7}\ndata: \u{1B}[31mred\n\n"), .close,
        ])
        let outcome = try await Tool.runOnTerminal(
            "get", server.url.absoluteString, "--body", "--sse", "--color", "never")
        #expect(outcome.text == "\\u001B[2J \\u0007\n  \\u001B[31mred\n")
    }

    @Test func controlCharactersInJSONAreEscapedOnATerminal() async throws {
        let server = try await RawServer.start([
            .respond(Self.head + "id: \u{7F}\ndata: \u{9B}31mred\n\n"), .close,
        ])
        let outcome = try await Tool.runOnTerminal(
            "get", server.url.absoluteString, "--body", "--sse-json", "--color", "never")
        #expect(outcome.text == #"{"event":"message","id":"\u007F","data":"\u009B31mred"}"# + "\n")
    }

    @Test func aResponseThatIsNotAnEventStreamFails() async throws {
        let server = try await TestServer.start()
        let html = try await Tool.run("get", server.url("/get").absoluteString, "--sse")
        #expect(html.status == 6)
        #expect(html.text == "")
        #expect(html.errors.contains("returned application/json"))
        let missing = try await Tool.run("get", server.url("/status/404").absoluteString, "--sse")
        #expect(missing.status == 4)
        #expect(missing.errors.contains("returned 404 Not Found instead of an event stream."))
        let none = try await Tool.run("get", server.url("/status/204").absoluteString, "--sse")
        #expect(none.status == 0)
        #expect(none.text == "")
    }

    @Test func anEventThatIsTooLargeIsAFailure() async throws {
        let server = try await TestServer.start()
        server.route("/large") { _ in
            .content("text/event-stream", Data(("data: " + String(repeating: "x", count: 2 << 20) + "\n\n").utf8))
        }
        let outcome = try await Tool.run("get", server.url("/large").absoluteString, "--sse")
        #expect(outcome.status == 6)
        #expect(outcome.errors.hasPrefix("afar: An event of the stream has more than 1048576 bytes."))
    }

    @Test func conflictingOptionsAreRejected() async throws {
        #expect(try await Tool.run("get", "127.0.0.1:1", "--sse", "--stream").status == 2)
        #expect(try await Tool.run("get", "127.0.0.1:1", "--sse", "--retry", "1").status == 2)
    }

    @Test func theCurlCommandIsEquivalent() async throws {
        let printed = try await Tool.run("get", "example.com", "--sse", "--curl")
        #expect(printed.text.contains("--no-buffer"))
        #expect(printed.text.contains("'Accept: text/event-stream'"))
    }
}
