import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes

extension ConformanceCase {
    static let connections: [ConformanceCase] = [
        ConformanceCase(.connections, "a connection serves several requests in sequence", needsSockets: true) {
            trial in
            let answer = RawServer.Step.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let (exchange, server) = try await trial.exchange(with: [.loop([answer])])
            for _ in 0..<3 { try await expectEqual(trial.send(exchange).data, Data("ok".utf8)) }
            try expectEqual(server.connectionCount, 1)
        },
        ConformanceCase(.connections, "a connection that the server closes is not reused", needsSockets: true) {
            trial in
            let (exchange, server) = try await trial.exchange(
                with: [.respond("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), .close])
            for _ in 0..<3 { try await expectEqual(trial.send(exchange).data, Data("ok".utf8)) }
            try expectEqual(server.connectionCount, 3)
        },
        ConformanceCase(.connections, "a connection with an unread body is not reused", needsSockets: true) {
            trial in
            let (exchange, server) = try await trial.exchange(
                with: [.respond("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), .waitForever])
            var refused = exchange
            refused.decide = { _ in .refuse(CancellationError()) }
            for _ in 0..<2 { _ = try await trial.failure(refused, .cancelled) }
            try expectEqual(server.connectionCount, 2)
        },
        ConformanceCase(.connections, "a discarded body is read, and its connection is reused", needsSockets: true) {
            trial in
            let answer = RawServer.Step.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")
            let (exchange, server) = try await trial.exchange(with: [.loop([answer])])
            var left = exchange
            left.decide = { _ in .discard(upTo: 1000) }
            for _ in 0..<3 { _ = try await trial.send(left) }
            try expectEqual(server.connectionCount, 1)
        },
        ConformanceCase(
            .connections, "an upgrade delivers the connection and the bytes after the head", needs: .connections,
            needsSockets: true
        ) { trial in
            let (exchange, server) = try await trial.upgrade(with: [
                .respond(upgradeAccepted + "early"), .receive(4), .send("late"), .close,
            ])
            let response = try await trial.send(exchange)
            try expectEqual(response.head.status, 101)
            let connection = try response.connection
            try await expectEqual(connection.text(5), "early")
            try await connection.write(Data("ping".utf8), timeout: 10)
            try await expectEqual(connection.text(4), "late")
            try await expect(connection.read(atMost: 1, timeout: 10).isEmpty, "the end")
            let head = try await server.head()
            try expect(head.hasPrefix("GET / HTTP/1.1\r\n") && head.contains("Upgrade: echo"), "a request, not \(head)")
        },
        ConformanceCase(
            .connections, "a declined upgrade is a response without a body", needs: .connections,
            needsSockets: true
        ) { trial in
            let (exchange, server) = try await trial.upgrade(with: [
                .respond("HTTP/1.1 403 Forbidden\r\nX-Reason: age\r\nContent-Length: 1000\r\n\r\nno"), .waitForever,
            ])
            let response = try await trial.send(exchange)
            try expectEqual(response.head.status, 403)
            try expectEqual(response.head.fields.first { $0.name.canonicalName == "x-reason" }?.value, "age")
            try await expectEqual(response.data, Data())
            try await server.peerClosed(0)
        },
        ConformanceCase(
            .connections, "CONNECT delivers an unused connection", needs: .connections,
            needsSockets: true
        ) { trial in
            let (exchange, server) = try await trial.exchange(
                with: [.send("hello"), .receive(4), .send("late"), .waitForever], "CONNECT", delivery: .connection)
            let response = try await trial.send(exchange)
            try expectEqual(response.head.status, 200)
            let connection = try response.connection
            try await expectEqual(connection.text(5), "hello")
            try await connection.write(Data("ping".utf8), timeout: 10)
            try await expectEqual(connection.text(4), "late")
            try expectEqual(server.received(by: 0), Data("ping".utf8))
            connection.close()
            try await server.peerClosed(0)
        },
        ConformanceCase(
            .connections, "a refused or released connection is closed", needs: .connections,
            needsSockets: true
        ) { trial in
            for decision in [HeadDecision.refuse(CancellationError()), .discard(upTo: 1000), .take()] {
                let (exchange, server) = try await trial.upgrade(with: [.respond(upgradeAccepted), .waitForever]) {
                    $0.decide = { _ in decision }
                }
                let response = try? await trial.send(exchange)
                if case .take = decision { try expect(response?.head.status == 101, "a connection") }
                _ = consume response
                try await server.peerClosed(0)
            }
        },
        ConformanceCase(
            .connections, "an unanswered upgrade ends at its timeout and when it is canceled", needs: .connections,
            needsSockets: true
        ) { trial in
            let (exchange, _) = try await trial.upgrade(with: [.receiveHead, .waitForever]) {
                $0.options.idleTimeout = 0.3
            }
            _ = try await trial.failure(exchange, .timedOut)
            let (cancelled, server) = try await trial.upgrade(with: [.receiveHead, .waitForever])
            let task = Task { try await trial.send(cancelled) }
            _ = try await server.head()
            task.cancel()
            _ = try await trial.failure([.cancelled]) { _ = try await task.value }
            try await server.peerClosed(0)
        },
    ]

    private static let upgradeAccepted =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
}

extension ConformanceTrial {
    /// Creates a request to switch to another protocol, for a server that runs a script.
    fileprivate func upgrade(
        with script: [RawServer.Step], _ change: (inout Exchange) -> Void = { _ in }
    ) async throws -> (exchange: Exchange, server: RawServer) {
        try await exchange(
            with: script, fields: [("Connection", "Upgrade"), ("Upgrade", "echo")], delivery: .connection, change)
    }
}

extension TransportResponse {
    fileprivate var connection: any Connection {
        get throws {
            guard case .connection(let connection) = body else {
                throw ConformanceFailure(description: "expected a connection, but found \(body)")
            }
            return connection
        }
    }
}

extension Connection {
    /// Reads a number of characters.
    fileprivate func text(_ count: Int) async throws -> String {
        var data = Data()
        while data.count < count {
            let part = try await read(atMost: count - data.count, timeout: 10)
            guard !part.isEmpty else { break }
            data += part
        }
        return String(decoding: data, as: UTF8.self)
    }
}
