import Afar
import AfarTransport
import Foundation
import Server
import Testing

/// The lifetime and the limits of HTTP/2 connections.
@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    private typealias Response = Task<DataResponse<String, AFError>, Never>

    /// Sends requests that wait for the server's gate.
    private func hold(_ count: Int, _ session: Session, _ server: HummingbirdServer) -> [Response] {
        (0..<count).map { number in
            let request =
                number % 2 == 0
                ? session.request(server.url("held")) : session.upload(Data("body".utf8), to: server.url("held"))
            return Task { await request.serializingString().response }
        }
    }

    // MARK: Limits

    /// Hummingbird accepts 100 concurrent streams.
    @Test func requestsBeyondTheServersLimitWait() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session()
        let requests = hold(300, session, server)
        try await server.gate.wait { $0.waiting == 100 }
        #expect(await session.connectionStatistics?.hosts.map(\.waiting) == [200])
        server.gate.open()
        var connections: Set<Int> = []
        for request in requests {
            let response = await request.value
            #expect(try response.result.get() == "held")
            connections.insert(try response.connection)
        }
        #expect(connections.count == 1)
        #expect(server.gate.counts.maximum == 100)
    }

    // MARK: Cancellation

    @Test func cancelledRequestsLeaveTheConnectionUsable() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session()
        let connection = try await server.connection(of: session)
        let kept = hold(10, session, server)
        try await server.gate.wait { $0.waiting == 10 }
        let cancelled = (0..<50).map { _ in session.request(server.url("held")) }
        let responses = cancelled.map { request in Task { await request.serializingString().response } }
        try await server.gate.wait { $0.waiting == 60 }
        for request in cancelled { request.cancel() }
        for response in responses { #expect(await response.value.error?.isExplicitlyCancelledError == true) }
        try await server.gate.wait { $0.cancelled == 50 && $0.waiting == 10 }
        #expect(try await server.connection(of: session) == connection)
        server.gate.open()
        for request in kept {
            let response = await request.value
            #expect(try response.result.get() == "held")
            #expect(try response.connection == connection)
        }
    }

    @Test func cancelledTransfersLeaveTheConnectionUsable() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session()
        let connection = try await server.connection(of: session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    let data = Data.varied(2_000_000)
                    let request =
                        number % 2 == 0
                        ? session.request(server.url("bytes?count=\(data.count)"))
                        : session.upload(data, to: server.url("echo"))
                    if number % 3 == 0 { request.downloadProgress { _ in request.cancel() } }
                    let response = await request.serializingData().response
                    if number % 3 == 0, response.error?.isExplicitlyCancelledError == true { return }
                    let (value, port) = (try response.result.get(), try response.connection)
                    #expect(value == data && port == connection)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await server.connection(of: session) == connection)
    }

    /// The server closes the connection after 200 resets in 30 seconds, and reports that it hasn't processed any request. The requests that
    /// are running are therefore sent again.
    @Test func requestsContinueAfterTooManyCancellations() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session()
        let connection = try await server.connection(of: session)
        let kept = hold(2, session, server)
        try await server.gate.wait { $0.waiting == 2 }
        for _ in 0..<220 {
            let request = session.request(server.url("held"))
            let response = Task { await request.serializingString().response }
            try await server.gate.wait { $0.waiting == 3 }
            request.cancel()
            _ = await response.value
            try await server.gate.wait { $0.waiting <= 2 }
        }
        #expect(try await server.connection(of: session) != connection)
        server.gate.open()
        for request in kept {
            let response = await request.value
            #expect(try response.result.get() == "held")
            #expect(try response.connection != connection)
        }
    }

    // MARK: The end of connections

    /// If a stream is the last one of its connection, the server closes the connection before it has sent the end of the stream.
    @Test func runningRequestsFinishDuringAGracefulShutdown() async throws {
        let server = try await HummingbirdServer.start()
        let session = try HummingbirdServer.session()
        let requests = hold(20, session, server)
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        let conversation = session.streamRequest(sending: chunks, to: server.url("echo"))
        input.yield(Data("before".utf8))
        var answers: [String] = []
        var connections: Set<Int> = []
        var shutdown: Task<Void, any Error>?
        for await stream in conversation.streamTask().streamingStrings() {
            if let completion = stream.completion {
                let error = completion.error?.transportError
                #expect(error == nil || error?.code == .bodyIncomplete, "\(error as Any)")
                connections.insert(try #require(completion.metrics?.transactionMetrics.last?.localPort))
            }
            guard let answer = stream.value else { continue }
            answers.append(answer)
            guard shutdown == nil else {
                input.finish()
                continue
            }
            try await server.gate.wait { $0.waiting == 20 }
            shutdown = Task { try await server.shutDown() }
            // A connection whose end has been announced no longer counts.
            while await session.connectionStatistics?.hosts.isEmpty == false { await Task.yield() }
            let error = await session.request(server.url("small")).serializingString().response.error
            #expect(error?.transportError?.code == .cannotConnect, "\(error as Any)")
            server.gate.open()
            for request in requests {
                let response = await request.value
                #expect(try response.result.get() == "held")
                connections.insert(try response.connection)
            }
            input.yield(Data("after".utf8))
        }
        #expect(answers == ["before", "after"])
        #expect(connections.count == 1)
        try await shutdown?.value
        let restarted = try await HummingbirdServer.start(port: server.port)
        _ = try await restarted.connection(of: session)
    }

    @Test func anIdleConnectionThatTheServerClosesIsReplaced() async throws {
        let server = try await HummingbirdServer.start { $0.idleTimeout = .milliseconds(100) }
        let session = try HummingbirdServer.session()
        let connection = try await server.connection(of: session)
        while await session.connectionStatistics?.hosts.isEmpty == false { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try await server.connection(of: session) != connection)
    }
}
