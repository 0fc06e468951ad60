import AfarCore
import AfarURLSession
import Foundation
import HTTPTypes
import Testing

@Suite struct RequestTests {
    let transport = URLSessionTransport()

    /// Starts a server that returns the received request as the body.
    func echo() throws -> ScriptedServer {
        try ScriptedServer { connection in
            while let request = connection.readRequest() {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)")
            }
        }
    }

    @Test func fieldsOverrideTheDefaults() async throws {
        let sent =
            try await transport.send(
                .get(try echo()) {
                    $0.request.path = "/a%20b?c=d"
                    $0.request.headerFields = [.accept: "text/x", .cookie: "a=1", .cookie: "b=2"]
                    $0.options.defaultFields = DefaultFields([.accept: "never", .userAgent: "Tests/1"])
                }
            ).text ?? ""
        #expect(sent.hasPrefix("GET /a%20b?c=d HTTP/1.1\r\n"))
        #expect(sent.contains("\r\nAccept: text/x\r\n"))
        #expect(sent.contains("\r\nUser-Agent: Tests/1\r\n"))
        #expect(sent.contains("\r\nCookie: a=1; b=2\r\n"))
        #expect(!sent.contains("never"))
    }

    @Test(arguments: ["body", ""])
    func dataIsSentWithoutAnInventedType(body: String) async throws {
        let recorder = Recorder()
        let sent =
            try await transport.send(
                .post(try echo(), .data(Data(body.utf8))) { $0.observer = recorder }
            ).text ?? ""
        #expect(sent.hasPrefix("POST / HTTP/1.1\r\n"))
        #expect(sent.contains("\r\nContent-Length: \(body.utf8.count)\r\n"))
        #expect(!sent.contains("Content-Type"))
        #expect(sent.hasSuffix("\r\n\r\n\(body)"))
        #expect(body.isEmpty || recorder.events.withLock { $0.first } == "sent 4/4")
    }

    @Test(arguments: ["chunked", "xchunked", "identity", "gzip, chunked"])
    func theCallersTransferEncodingIsNotForwarded(coding: String) async throws {
        let smuggled = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
        let server = try echo()
        for exchange in [
            Exchange.post(server, .data(Data(smuggled.utf8))) { $0.request.headerFields = [.transferEncoding: coding] },
            .get(server) { $0.request.headerFields = [.transferEncoding: coding] },
            .get(server) { $0.options.defaultFields = DefaultFields([.transferEncoding: coding]) },
        ] {
            let sent = try #require(try await transport.send(exchange).text)
            #expect(!sent.lowercased().contains("transfer-encoding"))
            if exchange.request.method == .post {
                #expect(sent.contains("\r\nContent-Length: \(smuggled.utf8.count)\r\n"))
                #expect(sent.hasSuffix("\r\n\r\n" + smuggled))
            }
        }
    }

    @Test func fileIsSentCompletely() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).bin")
        defer { try? FileManager.default.removeItem(at: file) }
        let bytes = String(repeating: "0123456789abcdef", count: 40_000)
        try Data(bytes.utf8).write(to: file)
        let response = try await transport.send(.post(try echo(), .file(file)))
        #expect(response.text?.hasSuffix("\r\n\r\n\(bytes)") == true)
        #expect(response.report.transactions.first?.countOfRequestBodyBytesSent == Int64(bytes.utf8.count))
    }

    @Test(arguments: ["/nonexistent/file", "/tmp"])
    func unreadableFileIsATypedError(path: String) async throws {
        let body = RequestBody.file(URL(fileURLWithPath: path))
        let error = await failure { _ = try await transport.send(.post(try echo(), body)) }
        #expect(error?.code == .requestBodyFailed)
    }

    @Test func unusualMethodsAreSentUnchanged() async throws {
        let odd = try #require(HTTPRequest.Method("pRopFind"))
        let sent = try await transport.send(.get(try echo()) { $0.request.method = odd }).text
        #expect(sent?.hasPrefix("pRopFind / ") == true)
    }

    @Test func invalidURLsAreRejected() async throws {
        for authority in ["", "a b", "[::1"] {
            let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
            let error = await failure { _ = try await transport.send(Exchange(request: request)) }
            #expect(error?.code == .invalidURL, "\(authority)")
        }
    }
}
