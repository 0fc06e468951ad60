import Afar
import AfarTestServer
import Testing

@testable import AfarCLI

struct FailureTests {
    private func failure(_ code: TransportError.Code, phase: TransportError.Phase = .receiving) -> Failure {
        let error = TransportError(code, phase: phase, url: "http://x:1/y", message: "two\nlines")
        return Failure(.sessionTaskFailed(error: error.urlError), url: "http://me:pw@x:1/y")
    }

    @Test(arguments: [
        (TransportError.Code.cannotFindHost, ExitReason.connection), (.cannotConnect, .connection),
        (.notConnected, .connection), (.secureConnectionFailed, .connection), (.certificateUntrusted, .connection),
        (.clientCertificateRequired, .connection), (.timedOut, .timeout), (.bodyIncomplete, .response),
        (.malformedResponse, .response), (.responseTooLarge, .response), (.undecodableContent, .response),
        (.connectionLost, .response), (.unsupportedByTransport, .usage), (.invalidURL, .usage), (.unknown, .other),
        (.outOfResources, .other),
    ])
    func everyCodeHasItsStatusAndOneLine(code: TransportError.Code, status: ExitReason) {
        let failure = failure(code)
        #expect(failure.status == status)
        #expect(!failure.message.contains("\n"))
        #expect(!failure.message.contains("pw"))
    }

    @Test func connectionLostBeforeSendingIsAboutTheConnection() {
        #expect(failure(.connectionLost, phase: .tlsHandshake).status == .connection)
        #expect(failure(.timedOut, phase: .connecting).message.contains("No connection"))
        #expect(failure(.timedOut, phase: .tlsHandshake).message.contains("begin the URL with http://"))
    }

    /// URLs and arguments that contain a secret, with commands that fail in different ways.
    @Test(arguments: [
        ["get", "http://127.0.0.1:1/?token=hush&a=b"], ["get", "http://ada:hush@127.0.0.1:1/;sig=hush?api%5Fkey=hush"],
        ["get", "http://ada:hush@127.0.0.1:1/", "--transport", "urlsession"], ["get", "http://ada:hu sh@x/?pwd=hush"],
        ["get", "ftp://ada:hush@x/?key=hush"], ["get", "http://ada:hush@0x7f.1/?key=hush"],
        ["get", "http://h%3Aush:p@x/"],
        ["http://ada:hush@x/?token=hush"], ["get", "http://x/", "http://ada:hush@x/?token=hush"],
        ["get", "http://x/", "-H", "Authorization Bearer hush"], ["post", "http://x/", "--json", "password:=hush"],
        ["download", "http://127.0.0.1:1/x?token=hush"], ["xml", "http://127.0.0.1:1/x?token=hush"],
        ["upload", "http://127.0.0.1:1/x?token=hush", "--file", "/etc/hostname"],
    ])
    func errorsContainNoSecrets(arguments: [String]) async throws {
        let directory = try ScratchDirectory()
        let outcome = try await Tool.run(arguments, directory: directory.url)
        #expect(outcome.status != 0)
        #expect(outcome.errors.hasPrefix("afar: "))
        #expect(!outcome.errors.contains("hush"), "\(outcome.errors)")
    }

    @Test(arguments: [["get"], ["get", "--check-status"], ["get", "--sse"], ["download"], ["xml"]])
    func responseMessagesContainNoSecrets(arguments: [String]) async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let url = server.url("/status/404?token=hush").absoluteString.replacing("://", with: "://ada:hush@")
        let outcome = try await Tool.run(arguments + [url], directory: directory.url)
        #expect(!outcome.errors.contains("hush"), "\(outcome.errors)")
        await server.stop()
    }

    @Test func otherErrorsNameTheURL() {
        let failure = Failure(.explicitlyCancelled, url: "http://me:pw@x/")
        #expect(failure.status == .other)
        #expect(failure.message.contains("http://***@x/"))
    }

    @Test func theHelpListsEveryStatus() {
        #expect(ExitReason.table.split(separator: "\n").count == ExitReason.allCases.count)
    }
}
