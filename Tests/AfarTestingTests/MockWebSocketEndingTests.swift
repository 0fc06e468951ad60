import AfarCore
import AfarTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The end of WebSockets over a mock: no task or object of the server remains.
@Suite(.timeLimit(.minutes(1))) struct MockWebSocketEndingTests {
    /// A server that waits in different ways until the client leaves.
    private final class Server: Sendable {
        enum Wait: CaseIterable {
            case receive, sleep, expect, send, expectClose
        }

        let isRunning = Deferred<Void>()
        let end = Deferred<String>()
        private let wait: Wait
        private let socket = Locked<WeakSocket>(WeakSocket())

        private struct WeakSocket {
            weak var value: MockWebSocket?
        }

        init(_ wait: Wait) { self.wait = wait }

        var isReleased: Bool { socket.withLock { $0.value == nil } }

        func serve(_ socket: MockWebSocket) async throws {
            self.socket.withLock { $0.value = socket }
            isRunning.fulfill(())
            do {
                switch wait {
                case .receive: while try await socket.receive() != nil {}
                case .sleep: try await ContinuousClock().sleep(for: .seconds(3600))
                case .expect: try await socket.perform(.expect(.string("never")))
                case .send: while true { try await socket.send(.data(Data(count: 100_000))) }
                case .expectClose: try await socket.perform(.expectClose())
                }
                end.fulfill("returned")
            } catch {
                end.fulfill("\((error as? TransportError)?.code.description ?? "canceled")")
                throw error
            }
        }
    }

    private func session(_ server: Server) -> Session {
        Session(transport: MockTransport { _ in .webSocket { try await server.serve($0) } })
    }

    @Test(arguments: Server.Wait.allCases) private func cancellationEndsTheServer(wait: Server.Wait) async {
        let server = Server(wait)
        let mock = MockTransport { _ in .webSocket { try await server.serve($0) } }
        let session = Session(transport: mock)
        let socket = session.webSocketRequest(to: chat)
        async let events = events(of: socket)
        await server.isRunning.value
        socket.cancel()
        #expect(await events.last == "failed 0")
        #expect(socket.error?.isExplicitlyCancelledError == true)
        #expect(await server.end.value == (wait == .sleep ? "canceled" : "connectionLost"))
        await eventually { server.isReleased }
        #expect(mock.failedExpectations.isEmpty)
    }

    @Test(arguments: Server.Wait.allCases) private func closingEndsTheServer(wait: Server.Wait) async {
        let server = Server(wait)
        let session = session(server)
        let socket = session.webSocketRequest(to: chat)
        let isConnected = Deferred<Void>()
        socket.streamMessageEvents(on: .global()) { event in
            if case .connected = event.kind { isConnected.fulfill(()) }
        }
        async let events = events(of: socket)
        await isConnected.value
        await server.isRunning.value
        socket.close(sending: .goingAway)
        let end = await server.end.value
        #expect(end == [.sleep: "canceled", .expect: "invalidUse", .send: "connectionLost"][wait] ?? "returned")
        #expect(await events.suffix(2) == ["disconnected 1001 ", "completed 101"])
        await eventually { server.isReleased }
    }

    @Test func aShutdownClosesWebSockets() async throws {
        let mock = mock(.webSocket(.send(.string("open")), .expectClose(.goingAway)))
        let session = Session(transport: mock)
        let socket = session.webSocketRequest(to: chat).webSocketTask()
        var messages = socket.messages.makeAsyncIterator()
        guard case .string("open") = try await messages.next() else { throw Unexpected(what: "not open") }
        async let end = messages.next()
        #expect(await session.shutdown(drainingFor: 3600))
        #expect(try await end == nil)
        #expect(mock.failedExpectations.isEmpty)
    }

    @Test func theEndOfASessionEndsTheServer() async {
        let server = Server(.receive)
        var session: Session? = session(server)
        let socket = session?.webSocketRequest(to: chat)
        let error = Deferred<AFError?>()
        socket?.streamMessageEvents(on: .global()) { event in
            if case .completed(let completion) = event.kind { error.fulfill(completion.error) }
        }
        await server.isRunning.value
        session = nil
        #expect(await error.value?.isSessionDeinitializedError == true)
        #expect(await server.end.value == "connectionLost")
        await eventually { server.isReleased }
    }

    @Test func leavingALoopEndsTheServer() async throws {
        let server = Server(.send)
        let session = session(server)
        for try await _ in session.webSocketRequest(to: chat).webSocketTask().messages { break }
        #expect(await server.end.value == "connectionLost")
        await eventually { server.isReleased }
    }

    @Test func manySocketsEnd() async {
        let mock = MockTransport { _ in
            .webSocket { socket in while let message = try await socket.receive() { try await socket.send(message) } }
        }
        let session = Session(transport: mock)
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let task = session.webSocketRequest(to: chat).webSocketTask()
                    var count = 0
                    do {
                        try await task.send(.string("0"))
                        for try await _ in task.messages {
                            count += 1
                            if count == 20 { number % 3 == 0 ? task.cancel() : task.close(sending: .normalClosure) }
                            if count < 20 { try await task.send(.string("\(count)")) }
                        }
                    } catch {}
                    return count
                }
            }
            for await count in group { #expect(count == 20) }
        }
    }

    // MARK: The connection

    /// Opens a connection to a server and performs the handshake.
    private func connection(_ server: @escaping @Sendable (MockWebSocket) async throws -> Void) async throws
        -> any Connection
    {
        let transport = MockTransport { _ in .webSocket(server) }
        let response = try await transport.send(
            .to("/") {
                $0.delivery = .connection
                $0.request.headerFields[.secWebSocketKey] = "dGhlIHNhbXBsZSBub25jZQ=="
            })
        // The example of RFC 6455, section 1.3.
        #expect(response.head.fields[.secWebSocketAccept] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        guard case .connection(let connection) = response.body else { throw Unexpected(what: "no connection") }
        return connection
    }

    @Test func readsTimeOutAndCanBeCanceled() async throws {
        let mayPass = Gate()
        let connection = try await connection { socket in
            await mayPass.pass()
            try await socket.send(.string("hi"))
        }
        let error = await failure { _ = try await connection.read(atMost: 10, timeout: 0.01) }
        #expect(error?.code == .timedOut)
        let reading = Task { try await connection.read(atMost: 10, timeout: nil) }
        reading.cancel()
        #expect(await failure { _ = try await reading.value }?.code == .cancelled)
        await mayPass.open()
        var bytes = Data()
        while bytes.count < 4 { bytes += try await connection.read(atMost: 1, timeout: 60) }
        #expect(bytes == Data([0x81, 2, 0x68, 0x69]))
        connection.close()
        #expect(await failure { _ = try await connection.read(atMost: 1, timeout: nil) }?.code == .cancelled)
        #expect(await failure { try await connection.write(Data(), timeout: nil) }?.code == .cancelled)
    }

    @Test func aReleasedConnectionIsClosed() async throws {
        let server = Server(.receive)
        var connection: (any Connection)? = try await connection { try await server.serve($0) }
        await server.isRunning.value
        #expect(connection?.metrics.countOfResponseBodyBytesReceived == 0)
        connection = nil
        #expect(await server.end.value == "connectionLost")
        await eventually { server.isReleased }
    }

    @Test func invalidFramesFail() async throws {
        let connection = try await connection { while try await $0.receive() != nil {} }
        let error = await failure { try await connection.write(Data([0x81, 2, 0x68, 0x69]), timeout: nil) }
        #expect(error?.code == .invalidUse)
        #expect(error?.message == "the client violated the WebSocket protocol: a frame isn't masked")
    }
}
