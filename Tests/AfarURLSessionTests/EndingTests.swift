import AfarCore
import Foundation
import HTTPTypes
import Testing

@testable import AfarURLSession

@Suite struct EndingTests {
    let transport = URLSessionTransport()

    /// Starts a server that sends `answer` and signals when it has read a request and when the peer has closed the
    /// connection.
    func silent(after answer: String, requested: Event, closed: Event) throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send(answer)
            requested.happen()
            connection.waitForClose()
            closed.happen()
        }
    }

    /// Waits until the session has released every task.
    func expectNothingLeft() async {
        await eventually { transport.delegate.count == 0 }
    }

    @Test(arguments: [
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 302 F\r\nLocation: /\r\nContent-Length: 9\r\n\r\na",
        "HTTP/1.1 401 U\r\nWWW-Authenticate: NTLM\r\nContent-Length: 9\r\n\r\na",
    ])
    func cancellingEndsTheExchangeAtAnyStage(answer: String) async throws {
        let (requested, closed) = (Event(), Event())
        let server = try silent(after: answer, requested: requested, closed: closed)
        let task = Task { try await transport.send(.get(server)) }
        await requested.wait()
        task.cancel()
        #expect(await failure { _ = try await task.value }?.code == .cancelled)
        await closed.wait()
        await expectNothingLeft()
    }

    /// Foundation reports the end of a challenge again after the response is complete, when the next exchange may have
    /// started.
    @Test(.timeLimit(.minutes(1))) func theNextExchangeKeepsItsControl() async throws {
        let server = try ScriptedServer(
            answer: "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 2\r\n\r\nno")
        for _ in 0..<20 {
            let first = Exchange.get(server)
            _ = try await transport.send(first)
            var second = Exchange.get(server)
            second.control = first.control
            second.control.suspend()
            let task = Task.immediate { [second] in try await transport.send(second) }
            // The first exchange is gone. Its late notifications arrive after the start of the second one.
            await eventually { transport.delegate.count == 1 }
            _ = try await transport.send(.get(server))
            second.control.resume()
            #expect(try await task.value.head.status == 401)
        }
    }

    @Test func afterCancellationNothingIsSent() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await transport.send(.get(server))
        }
        task.cancel()
        #expect(await failure { _ = try await task.value }?.code == .cancelled)
        #expect(transport.delegate.count == 0)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 302 F\r\nLocation: /\r\nContent-Length: 2\r\n\r\nno",
        "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 2\r\n\r\nno",
    ])
    func cancellingAtRandomMomentsEndsEachExchangeOnce(answer: String) async throws {
        let server = try ScriptedServer(answer: answer)
        await withTaskGroup(of: Void.self) { group in
            for turn in 0..<100 {
                group.addTask {
                    let task = Task { try await transport.send(.get(server)) }
                    try? await Task.sleep(for: .microseconds(turn * 150))
                    task.cancel()
                    let error = await failure { _ = try await task.value }
                    #expect(error == nil || error?.code == .cancelled, "\(String(describing: error))")
                }
            }
        }
        await expectNothingLeft()
    }

    /// Foundation on Linux traps if an upload from a file is canceled while it reads the file.
    @Test func cancellingAnUploadFromAFileEndsIt() async {
        await #expect(processExitsWith: .success) {
            let transport = URLSessionTransport()
            let file = try TemporaryFile(count: 5_000_000)
            let server = try ScriptedServer { connection in connection.waitForClose() }
            for turn in 0..<30 {
                let task = Task { try await transport.send(.post(server, .file(file.url))) }
                try await Task.sleep(for: .microseconds(turn * 170))
                task.cancel()
                let error = await failure { _ = try await task.value }
                #expect(error?.code == .cancelled)
            }
            await eventually { transport.delegate.count == 0 }
        }
    }

    @Test func refusedConnection() async throws {
        let server = try ScriptedServer(answer: "")
        server.stop()
        let error = await failure { _ = try await transport.send(.get(server)) }
        #expect(error?.code == .cannotConnect)
        #expect(error?.phase == .connecting)
        #expect(error?.underlying is URLError)
    }

    @Test func unknownHost() async throws {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "no-such-host.invalid", path: "/")
        let error = await failure { _ = try await transport.send(Exchange(request: request)) }
        #expect(error?.code == .cannotFindHost)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
    func silenceTriggersTheIdleTimeout(answer: String) async throws {
        let (requested, closed) = (Event(), Event())
        let server = try silent(after: answer, requested: requested, closed: closed)
        let error = await failure { _ = try await transport.send(.get(server) { $0.options.idleTimeout = 0.2 }) }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("idle") == true)
        await closed.wait()
    }

    @Test func slowBytesTriggerTheTotalTimeout() async throws {
        let server = try ScriptedServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send([1]) { usleep(20_000) }
        }
        let error = await failure {
            _ = try await transport.send(
                .get(server) {
                    $0.options.idleTimeout = 5
                    $0.options.totalTimeout = 0.4
                })
        }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("total") == true)
        #expect((error?.report.transactions.first?.countOfResponseBodyBytesAfterDecoding ?? 0) > 0)
    }

    @Test func suspendedExchangeStartsWhenResumed() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let silent = try ScriptedServer { connection in connection.waitForClose() }
        let control = ExchangeControl()
        control.suspend()
        let isDone = Locked(false)
        let task = Task {
            let response = try await transport.send(
                .get(server) {
                    $0.control = control
                    $0.options.idleTimeout = 0.1
                })
            isDone.withLock { $0 = true }
            return response
        }
        await eventually { transport.delegate.count > 0 }
        // This timeout starts later than the suspended exchange's, and is longer.
        let error = await failure { _ = try await transport.send(.get(silent) { $0.options.idleTimeout = 0.2 }) }
        #expect(error?.code == .timedOut)
        #expect(!isDone.withLock { $0 })
        control.resume()
        #expect(try await task.value.text == "ok")
    }

    @Test func suspendedExchangeCanBeCancelled() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let control = ExchangeControl()
        control.suspend()
        let task = Task { try await transport.send(.get(server) { $0.control = control }) }
        await eventually { transport.delegate.count > 0 }
        task.cancel()
        #expect(await failure { _ = try await task.value }?.code == .cancelled)
        await expectNothingLeft()
    }

    @Test func exchangeOutlivesItsTransport() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let response = try await URLSessionTransport().send(.get(server) { $0.delivery = .stream() })
        guard case .stream(let stream) = response.body else { throw Unexpected(what: "no stream") }
        var bytes = Data()
        for try await chunk in stream { bytes += chunk }
        #expect(bytes == Data("ok".utf8))
    }

    @Test func transportIsFreedWithItsSession() async throws {
        let server = try ScriptedServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        weak var delegate: ExchangeDelegate?
        do {
            let transport = URLSessionTransport()
            delegate = transport.delegate
            _ = try await transport.send(.get(server))
        }
        await eventually { delegate == nil }
    }
}
