import AfarTestServer
import Foundation
import Testing

/// The progress display of long requests on a terminal.
struct SpinnerTests {
    @Test func aLongRequestIsShown() async throws {
        let shown = RawServer.Gate()
        let server = try await RawServer.start([
            .receiveHead, .hold(shown), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"),
        ])
        let outcome = try await Tool.runWithErrorsOnTerminal(
            "get", server.url.absoluteString, environment: ["LC_ALL": "C"]
        ) { output in
            if output.contains("\r/ ") { shown.open() }
        }
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("\r| Waiting for 127.0.0.1"))
        #expect(outcome.errors.contains("\r/ Waiting for 127.0.0.1"))
        #expect(Screen.text(outcome.errors) == "")
        #expect(outcome.text == "late")
    }

    @Test func aShortRequestShowsNothing() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.runWithErrorsOnTerminal("get", server.url("/get").absoluteString)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
    }

    @Test func aPipeReceivesNoSpinner() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run("get", server.url("/delay/1.3").absoluteString)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
    }

    @Test func aFailureIsPrintedOnASeparateLine() async throws {
        let shown = RawServer.Gate()
        let server = try await RawServer.start([.receiveHead, .hold(shown), .close])
        let outcome = try await Tool.runWithErrorsOnTerminal(
            "get", server.url.absoluteString, environment: ["LC_ALL": "C.UTF-8"]
        ) { output in
            if output.contains("\r⠋ ") { shown.open() }
        }
        #expect(outcome.status == 6)
        #expect(outcome.errors.contains("\r⠋ Waiting for 127.0.0.1"))
        #expect(Screen.text(outcome.errors).hasPrefix("afar: The response from"))
    }

    @Test func verboseOutputHasNoSpinner() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.runWithErrorsOnTerminal(
            "get", server.url("/delay/1.3").absoluteString, "--verbose", environment: ["LC_ALL": "C"])
        #expect(!outcome.errors.contains("Waiting for"))
    }
}
