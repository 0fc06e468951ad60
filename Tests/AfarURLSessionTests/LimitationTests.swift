import AfarCore
import Foundation
import HTTPTypes
import Testing

@testable import AfarURLSession

/// Verifies the list of limitations of this platform's `URLSession`. If a test fails, Foundation has improved, and the
/// entry can be removed from the list.
///
/// Each test runs in its own process. After an interrupted body, Foundation continues to watch descriptors that may
/// have been reused, which can block other tests in the same process.
@Suite struct LimitationTests {
    typealias Limitation = URLSessionTransport.Limitation

    @Test(arguments: URLSessionTransport.limitations) func holds(_ limitation: Limitation) async throws {
        switch limitation {
        case .truncatedHead:
            await #expect(processExitsWith: .failure) { await Child.sendRequest("HTTP/1.1 200 OK\r\nContent-") }
        case .receivedTrailers:
            await #expect(processExitsWith: .failure) {
                await Child.sendRequest(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n")
            }
        case .enormousContentLength:
            await #expect(processExitsWith: .failure) {
                await Child.sendRequest("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775296\r\n\r\nabc")
            }
        case .unresolvableLocation:
            await #expect(processExitsWith: .failure) {
                await Child.sendRequest("HTTP/1.1 302 Found\r\nLocation: //[::1]/x\r\nContent-Length: 0\r\n\r\n")
            }
            await #expect(processExitsWith: .failure) {
                await Child.sendRequest("HTTP/1.1 302 Found\r\nLocation: //a%20b/x\r\nContent-Length: 0\r\n\r\n")
            }
        default:
            await #expect(processExitsWith: .success) { [name = limitation.rawValue as String] in
                try await LimitationTests().check(try #require(Limitation(rawValue: name)))
            }
        }
    }

    /// Checks a limitation that doesn't crash the process.
    private func check(_ limitation: Limitation) async throws {
        switch limitation {
        case .streamedUpload:
            let stream = RequestBodyStream(isReplayable: false) { { nil } }
            try await expectRefusal(naming: "streamed", ofBody: .stream(stream))
        case .bodyWithGet:
            try await expectRefusal(naming: "GET", ofBody: .data(Data([1]))) { $0.request.method = .get }
        case .methodCase:
            let method = try #require(HTTPRequest.Method("get"))
            try await expectRefusal(naming: "get", ofBody: .none) { $0.request.method = method }
        case .largeFileUpload:
            let file = try TemporaryFile(count: (256 << 20) + 1)
            try await expectRefusal(naming: "256 MiB", ofBody: .file(file.url))
        case .lowestTLSVersion:
            try await expectRefusal(naming: "TLS", ofBody: .none) { $0.options.minimumTLSVersion = .v13 }
        case .serverTrust:
            try await expectRefusal(naming: "trust", ofBody: .none) {
                $0.options.security = ConnectionSecurity(identity: nil, evaluation: { _, _ in })
            }
        case .connectTimeout: try await connectTimeout()
        case .rawContent: try await rawContent()
        case .contentDecoding: try await contentDecoding()
        case .fieldOrder: try await fieldOrder()
        case .httpVersion: try await httpVersion()
        case .trailers: #expect(!transport.capabilities.features.contains(.trailers))
        case .decompressionRatio: try await decompressionRatio()
        case .closingIdleConnections: try await closingIdleConnections()
        case .recoveryAfterFailedUpload: try await recoveryAfterFailedUpload()
        case .backpressure: try await backpressure()
        case .stoppingEndlessResponses: try await stoppingEndlessResponses()
        case .suspension: try await suspension()
        case .metrics: try await metrics()
        case .environmentProxies: try await environmentProxies()
        case .unsolicitedBytes: try await unsolicitedBytes()
        case .impliedFields: try await impliedFields()
        case .bodyWithoutLocation: try await bodyWithoutLocation()
        case .lenientStatusLine: try await lenientStatusLine()
        // Foundation trusts only the system's authorities, and no test server.
        case .bodyWithoutCloseNotify: break
        case .truncatedHead, .receivedTrailers, .enormousContentLength, .unresolvableLocation: break
        }
    }

    let transport = URLSessionTransport()

    /// Expects that a POST with `body` is rejected before anything is sent. The message must name the transport and the
    /// limitation.
    private func expectRefusal(
        naming words: String, ofBody body: RequestBody, _ change: (inout Exchange) -> Void = { _ in }
    ) async throws {
        let server = try ScriptedServer { _ in Issue.record("A request was sent.") }
        let error = await failure { _ = try await transport.send(.post(server, body, change)) }
        #expect(error?.code == .unsupportedByTransport)
        #expect(error?.message.contains("URLSession") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    private func connectTimeout() async throws {
        let full = try FullListener()
        defer { withExtendedLifetime(full) {} }
        let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(full.port)", path: "/")
        var exchange = Exchange(request: request)
        exchange.options.connectTimeout = 0.1
        exchange.options.idleTimeout = 0.5
        let error = await failure { [exchange] in _ = try await transport.send(exchange) }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("idle") == true, "\(error?.message ?? "")")
    }

    private func rawContent() async throws {
        let server = try ScriptedServer(
            answer: "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 0\r\n\r\n")
        let error = await failure {
            _ = try await transport.send(.get(server) { $0.options.decodesContent = false })
        }
        #expect(error?.code == .unsupportedByTransport)
        #expect(error?.message.contains("URLSession") == true)
    }

    private func contentDecoding() async throws {
        let server = try ScriptedServer(
            answer: "HTTP/1.1 200 OK\r\nContent-Encoding: aws-chunked\r\nContent-Length: 2\r\n\r\nok")
        let error = await failure { _ = try await transport.send(.get(server)) }
        #expect(error?.code == .undecodableContent)
    }

    private func fieldOrder() async throws {
        let server = try ScriptedServer(
            answer: "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B: 2\r\nX-A: 3\r\nContent-Length: 0\r\n\r\n")
        let head = try await transport.send(.get(server)).head
        #expect(head.values(for: try #require(HTTPField.Name("X-A"))) == ["1, 3"])
    }

    private func httpVersion() async throws {
        let server = try ScriptedServer { connection in
            if connection.readRequest() != nil { connection.send("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        #expect(try await transport.send(.get(server)).head.httpVersion == "HTTP/1.1")
    }

    private func decompressionRatio() async throws {
        // 100,000 zeros in 132 bytes.
        let text = "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0Po" + String(repeating: "A", count: 128) + "IBXA32VEdSghgEA"
        let zeros = try #require(Data(base64Encoded: text))
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
            connection.send(Array(zeros))
        }
        let response = try await transport.send(
            .get(server) { $0.options.decompressionLimit = DecompressionLimit(size: 10_000, ratio: 1) })
        #expect(response.text?.utf8.count == 100_000)
    }

    private func closingIdleConnections() async throws {
        let connections = Locked(0)
        let server = try ScriptedServer { connection in
            connections.withLock { $0 += 1 }
            while connection.readRequest() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        }
        _ = try await transport.send(.get(server))
        transport.closeIdleConnections()
        _ = try await transport.send(.get(server))
        #expect(connections.withLock { $0 } == 1)
    }

    /// A request may or may not stall, but it must end.
    private func recoveryAfterFailedUpload() async throws {
        let transport = URLSessionTransport()
        let server = try ScriptedServer { connection in
            if let bytes = connection.read(4), bytes.starts(with: Array("POST".utf8)) { return }
            connection.waitForClose()
        }
        let beside = (0..<4).map { _ in
            Task { await failure { _ = try await transport.send(.get(server) { $0.options.idleTimeout = 1 }) } }
        }
        for _ in 0..<4 {
            let body = RequestBody.data(Data(count: 4_000_000))
            let error = await failure {
                _ = try await transport.send(.post(server, body) { $0.options.idleTimeout = 1 })
            }
            #expect(error != nil)
        }
        for task in beside {
            let error = await task.value
            #expect(error?.code == .timedOut)
        }
    }

    private func backpressure() async throws {
        let closed = Event()
        let small = URLSessionTransport(streamBufferLimit: 100_000)
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            connection.send([UInt8](repeating: 1, count: 400_000))
            connection.waitForClose()
            closed.happen()
        }
        let response = try await small.send(.get(server) { $0.delivery = .stream(highWaterMark: 1) })
        guard case .stream(let stream) = response.body else { throw Unexpected(what: "no stream") }
        await closed.wait()
        let error = await failure { for try await _ in stream {} }
        #expect(error?.code == .responseTooLarge)
    }

    /// Foundation may continue to read while the server sends without a pause, but must stop when the server pauses.
    private func stoppingEndlessResponses() async throws {
        let (hasFailed, closed) = (Locked(false), Event())
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            let piece = [UInt8](repeating: 1, count: 1 << 20)
            var count = 0
            while connection.send(piece), count < 500 {
                if hasFailed.withLock({ $0 }) { count += 1 }
            }
            connection.waitForClose()
            closed.happen()
        }
        let error = await failure {
            _ = try await URLSessionTransport().send(.get(server) { $0.delivery = .collect(limit: 1 << 20) })
        }
        #expect(error?.code == .responseTooLarge)
        hasFailed.withLock { $0 = true }
        await closed.wait()
    }

    private func suspension() async throws {
        let (requested, proceed) = (Event(), DispatchSemaphore(value: 0))
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
            requested.happen()
            proceed.wait()
            connection.send("cd")
            connection.waitForClose()
        }
        let control = ExchangeControl()
        let task = Task { try await transport.send(.get(server) { $0.control = control }) }
        await requested.wait()
        control.suspend()
        proceed.signal()
        #expect(try await task.value.text == "abcd")
    }

    private func metrics() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let transaction = try #require(try await transport.send(.get(server)).report.transactions.first)
        #expect(transaction.fetchStartDate != nil && transaction.responseStartDate != nil)
        #expect(transaction.connectStartDate == nil && transaction.remotePort == nil)
        #expect(transaction.countOfRequestHeaderBytesSent == 0)
    }

    private func environmentProxies() async throws {
        let proxy = try ScriptedServer { connection in
            let target = connection.readRequest()?.split(separator: " ").dropFirst().first ?? ""
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(target.utf8.count)\r\n\r\n\(target)")
        }
        setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
        let request = HTTPRequest(method: .get, scheme: "http", authority: "no-such-host.invalid", path: "/x")
        let answer = try await URLSessionTransport().send(Exchange(request: request)).text
        #expect(answer == "http://no-such-host.invalid/x")
    }

    private func unsolicitedBytes() async throws {
        let (isAnswered, isSent) = (DispatchSemaphore(value: 0), Event())
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
            isAnswered.wait()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray")
            isSent.happen()
            connection.waitForClose()
        }
        #expect(try await transport.send(.get(server)).text == "first")
        isAnswered.signal()
        await isSent.wait()
        #expect(try await transport.send(.get(server)).text == "stray")
    }

    private func impliedFields() async throws {
        let server = try ScriptedServer { connection in
            guard let request = connection.readRequest() else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(request.utf8.count)\r\n\r\n\(request)")
        }
        let get = try await transport.send(.get(server)).text ?? ""
        for name in ["Accept", "Accept-Language", "User-Agent", "Connection"] {
            #expect(get.contains("\r\n\(name): "), "\(get)")
        }
        let delete = try await transport.send(.get(server) { $0.request.method = .delete }).text ?? ""
        #expect(delete.contains("\r\nContent-Length: 0\r\n"), "\(delete)")
    }

    private func bodyWithoutLocation() async throws {
        for status in [301, 302, 303, 305, 306, 307, 308] {
            let server = try ScriptedServer(answer: "HTTP/1.1 \(status) R\r\nContent-Length: 4\r\n\r\nlost")
            let response = try await transport.send(.get(server))
            #expect(response.head.status == status)
            #expect(response.text == "", "\(status)")
        }
    }

    private func lenientStatusLine() async throws {
        for line in ["HTTP/1.1 200\r\n", "HTTP/1.1 200 OK\n"] {
            let server = try ScriptedServer { connection in
                if connection.readRequest() != nil { connection.send("\(line)Content-Length: 2\r\n\r\nok") }
            }
            #expect(await failure { _ = try await transport.send(.get(server)) }?.code == .malformedResponse)
        }
    }
}

/// Functions that run in a child process.
private enum Child {
    /// Sends one request to a server with the given response.
    static func sendRequest(_ answer: String) async {
        // Without the default handlers, the runtime writes a long crash report.
        for number in [SIGILL, SIGTRAP] { signal(number, SIG_DFL) }
        guard
            let server = try? ScriptedServer(script: { connection in
                if connection.readRequest() != nil { connection.send(answer) }
            })
        else { return }
        _ = try? await URLSessionTransport().send(.get(server))
    }
}
