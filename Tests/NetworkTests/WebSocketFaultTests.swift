import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Protocol violations of WebSocket servers.
@Suite(.timeLimit(.minutes(2))) struct WebSocketFaultTests {
    private let session = Session(configuration: .default)

    private func failure(_ request: WebSocketRequest) async -> TransportError.Code? {
        do {
            for try await _ in request.webSocketTask().messages {}
            return nil
        } catch {
            let cause = (error as? AFError)?.underlyingError as? URLError
            return (cause?.userInfo[NSUnderlyingErrorKey] as? TransportError)?.code
        }
    }

    private static let upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"

    @Test(arguments: [
        ("no upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        ("another answer's key", "\(upgrade)Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"),
        ("no key", "\(upgrade)\r\n"), ("no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"),
        ("a status of four digits", "HTTP/1.1 1010 X\r\n\r\n"),
        ("HTTP/2", "HTTP/2 101 X\r\n\r\n"), ("half a head", "HTTP/1.1 101 Switching"), ("nothing", ""),
        ("too many early hints", String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 30)),
    ])
    func aResponseWithoutAnUpgradeIsRejected(name: String, answer: String) async throws {
        let server = try await RawServer.start([.receiveHead, .send(answer), .close])
        let code = await failure(session.webSocketRequest(to: server.url))
        #expect(
            code == .malformedResponse || ["nothing", "half a head"].contains(name) && code == .connectionLost,
            "\(name): \(String(describing: code))")
    }

    @Test func anOversizedHeadIsRejected() async throws {
        let field = "X: " + String(repeating: "x", count: 1_000) + "\r\n"
        let large = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 101 X\r\n"), .repeat(field, every: 0, times: 1_000),
        ])
        #expect(await failure(session.webSocketRequest(to: large.url)) == .headTooLarge)
        let many = try await RawServer.start([
            .receiveHead, .send("HTTP/1.1 101 X\r\n" + String(repeating: "A: b\r\n", count: 2_000) + "\r\n"),
        ])
        #expect(await failure(session.webSocketRequest(to: many.url)) == .headTooLarge)
    }

    @Test func aSilentServerTimesOut() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let request = session.webSocketRequest(to: server.url).options { $0.idleTimeout = 0.1 }
        #expect(await failure(request) == .timedOut)
        try await server.peerClosed(0)
    }

    @Test func smugglingFieldsAreNotSent() async throws {
        let server = try await RawServer.start([.receiveHead, .close])
        let request = session.webSocketRequest(
            to: server.url,
            headers: [
                "Transfer-Encoding": "chunked", "Host": "named.example", "Sec-WebSocket-Key": "own", "Upgrade": "h2c",
            ])
        _ = await failure(request)
        let head = try await server.head().lowercased()
        #expect(head.hasPrefix("get / http/1.1\r\nhost: named.example\r\n"))
        #expect(head.components(separatedBy: "host:").count == 2)
        #expect(!head.contains("transfer-encoding") && !head.contains("h2c") && !head.contains(": own"))
    }

    @Test(
        arguments: [
            ("masked", "818141414141", .malformedResponse, "1002"), ("reserved", "f100", .malformedResponse, "1002"),
            ("a long ping", "897e0080", .malformedResponse, "1002"), ("no text", "8101ff", .malformedResponse, "1007"),
            ("too long", "827f0000000010000000", .responseTooLarge, "1009"),
        ] as [(String, String, TransportError.Code, String)])
    func theServerReceivesTheCloseCode(name: String, bytes: String, code: TransportError.Code, closeCode: String)
        async throws
    {
        let server = try await ServerChild.webSockets()
        let request = session.webSocketRequest(to: "ws://127.0.0.1:\(server.port)/raw?bytes=\(bytes)")
        #expect(await failure(request) == code, "\(name)")
        try await waitWhile { !server.output.contains("closed with \(closeCode)") }
    }

    @Test(arguments: ["81", "8105616263", "0103616263", ""])
    func aConnectionThatEndsWithinAFrameIsLost(bytes: String) async throws {
        let server = try await ServerChild.webSockets()
        let request = session.webSocketRequest(to: "ws://127.0.0.1:\(server.port)/raw?bytes=\(bytes)&then=close")
        #expect(await failure(request) == .connectionLost)
    }

    @Test func aClosingServerThatDoesNotReadDoesNotBlock() async throws {
        let server = try await ServerChild.webSockets()
        // The server sends a close frame and reads no more data.
        let request = session.webSocketRequest(to: "ws://127.0.0.1:\(server.port)/raw?bytes=880203e8&then=pause")
        let sending = Task {
            for _ in 0..<64 { try await request.send(.data(Data(count: 1 << 20))) }
        }
        #expect(await failure(request) == nil)
        await #expect(throws: (any Error).self) { try await sending.value }
    }

    @Test func receivedMessagesAreDeliveredAfterAFailedSend() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await ServerChild.webSockets(certificates)
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        let session = Session(configuration: configuration)
        for _ in 0..<10 {
            // The server sends a close frame with 1009, and closes the connection while the client sends.
            let task = session.webSocketRequest(to: "wss://localhost:\(server.port)/refuse").webSocketTask()
            let sending = Task { for _ in 0..<64 { try await task.send(.data(Data(count: 1 << 20))) } }
            var code: Int?
            for await event in task.streamingMessageEvents() {
                if case .disconnected(let closed, _) = event.kind { code = closed.rawValue }
            }
            #expect(code == 1009)
            _ = await sending.result
        }
    }

    @Test func aPingWithoutAnAnswerEndsTheConnection() async throws {
        let server = try await ServerChild.webSockets()
        let request = session.webSocketRequest(
            to: "ws://127.0.0.1:\(server.port)/raw?bytes=&then=pause", configuration: .pingInterval(0.2))
        #expect(await failure(request) == .timedOut)
    }

    @Test func concurrentConnectionsEnd() async throws {
        let server = try await ServerChild.webSockets()
        let session = session
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let task = session.webSocketRequest(to: "ws://127.0.0.1:\(server.port)/echo").webSocketTask()
                    var count = 0
                    try? await task.send(.string("0"))
                    do {
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
}
