import AfarTransport
import Foundation
import HTTPTypes
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import AfarHTTP
@testable import AfarTestServer

/// Exchanges over HTTP/2 connections, with a server that responds to single frames.
@Suite(.timeLimit(.minutes(1))) struct HTTP2ConnectionTests {
    private typealias Frame = FrameServer.Frame

    private static let ok: [UInt8] = [0x88]

    private func exchange(
        _ server: FrameServer, _ path: String = "/", body: RequestBody = .none,
        delivery: ResponseDelivery = .collect(limit: nil), _ change: (inout Exchange) -> Void = { _ in }
    ) -> Exchange {
        var options = ExchangeOptions()
        options.httpVersion = .http2PriorKnowledge
        options.idleTimeout = 5
        let request = HTTPRequest(
            method: body.isNone ? .get : .post, scheme: "http", authority: "127.0.0.1:\(server.port)", path: path)
        var exchange = Exchange(request: request, body: body, delivery: delivery, options: options)
        change(&exchange)
        return exchange
    }

    private func text(_ response: TransportResponse) -> String? {
        guard case .data(let data) = response.body else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Sends a request, so that the next one finds an idle connection.
    private func warmUp(_ transport: HTTPTransport, _ server: FrameServer) async throws {
        _ = try await transport.send(exchange(server))
        try await waitWhile { await transport.connectionStatistics?.hosts.map(\.idle) != [1] }
    }

    // MARK: The end of the connection

    @Test func aSlowReaderReceivesItsBodyAfterTheConnectionHasEnded() async throws {
        let server = try FrameServer { connection, frame in
            guard frame.type == 1 else { return }
            connection.send(.headers(Self.ok, frame.stream), Frame(0, stream: frame.stream, [65]))
        }
        let transport = HTTPTransport()
        let response = try await transport.send(exchange(server, delivery: .stream(highWaterMark: 1)))
        guard case .stream(let body) = response.body else {
            Issue.record("no stream")
            return
        }
        server.connections[0].send(Frame(0, stream: 1, [66]))
        server.connections[0].send(Frame(0, flags: 1, stream: 1, [67]))
        server.connections[0].close()
        try await waitWhile { await transport.connectionStatistics?.hosts.isEmpty == false }
        var text = ""
        for try await chunk in body { text += String(decoding: chunk, as: UTF8.self) }
        #expect(text == "ABC")
    }

    @Test func aSuspendedExchangeReceivesItsResponseAfterTheConnectionHasEnded() async throws {
        let server = try FrameServer { _, _ in }
        let transport = HTTPTransport()
        let exchange = exchange(server)
        async let response = transport.send(exchange)
        try await server.wait { $0.first?.frames.contains { $0.type == 1 } == true }
        exchange.control.suspend()
        // The answer means that the suspension has arrived.
        _ = await transport.connectionStatistics
        server.connections[0].send(.headers(Self.ok, 1), Frame(0, flags: 1, stream: 1, Array("AB".utf8)))
        server.connections[0].close()
        try await waitWhile { await transport.connectionStatistics?.hosts.isEmpty == false }
        exchange.control.resume()
        #expect(text(try await response) == "AB")
    }

    @Test(arguments: [true, false]) func aSuspendedExchangeSendsNothing(isFirst: Bool) async throws {
        let server = try FrameServer { connection, frame in connection.respond(to: frame) }
        let transport = HTTPTransport()
        if !isFirst { try await warmUp(transport, server) }
        let suspended = exchange(server)
        suspended.control.suspend()
        async let response = transport.send(suspended)
        // A later request over the same connection is sent.
        try await server.wait { $0.first?.frames.isEmpty == false }
        try await waitWhile { await transport.connectionStatistics?.hosts.map(\.inUse) != [1] }
        _ = try await transport.send(exchange(server))
        let count = { server.connections[0].frames.filter { $0.type == 1 }.count }
        #expect(count() == (isFirst ? 1 : 2))
        suspended.control.resume()
        #expect(try await response.head.status == 200)
        #expect(count() == (isFirst ? 2 : 3))
    }

    @Test func aSuspendedExchangeUsesAnotherConnectionAfterGOAWAY() async throws {
        let server = try FrameServer { connection, frame in connection.respond(to: frame) }
        let transport = HTTPTransport()
        let suspended = exchange(server)
        suspended.control.suspend()
        async let response = transport.send(suspended)
        try await server.wait { $0.first?.frames.isEmpty == false }
        server.connections[0].send(Frame(7, stream: 0, [0, 0, 0, 0, 0, 0, 0, 0]))
        // The connection no longer counts.
        try await waitWhile { await transport.connectionStatistics?.hosts.isEmpty == false }
        suspended.control.resume()
        #expect(try await response.head.status == 200)
        #expect(server.connections.count == 2)
    }

    // MARK: The calling thread

    @Test func anInvalidRequestFailsOverAnIdleConnection() async throws {
        let server = try FrameServer { connection, frame in connection.respond(to: frame) }
        let transport = HTTPTransport()
        for _ in 0..<10 {
            try await warmUp(transport, server)
            let exchange = exchange(server) {
                $0.request.headerFields[.userAgent] = String(repeating: "a", count: 1 << 20)
                $0.options.idleTimeout = 600
            }
            let error = await #expect(throws: TransportError.self) { try await transport.send(exchange) }
            #expect(error?.code == .invalidUse)
        }
    }

    @Test func aRequestIsSentAgainIfItsIdleConnectionWasClosed() async throws {
        let server = try FrameServer { connection, frame in connection.respond(to: frame) }
        let transport = HTTPTransport()
        for _ in 0..<200 {
            try await warmUp(transport, server)
            server.connections.last?.reset()
            let response = try await transport.send(exchange(server))
            #expect(response.head.status == 200)
        }
    }

    // MARK: Expectations

    @Test(arguments: [100, 200]) func theBodyIsSentAfterThisStatus(_ status: Int) async throws {
        let server = try FrameServer { connection, frame in
            if frame.type == 1 {
                connection.send(
                    .headers(status == 100 ? Frame.field(":status", "100") : Self.ok, frame.stream))
            } else if frame.type == 0, frame.flags & 1 != 0 {
                if status == 100 { connection.send(.headers(Self.ok, frame.stream)) }
                connection.send(Frame(0, flags: 1, stream: frame.stream, frame.payload))
            }
        }
        let exchange = exchange(server, body: .data(Data("body".utf8))) {
            $0.request.headerFields[.expect] = "100-continue"
        }
        #expect(text(try await HTTPTransport().send(exchange)) == "body")
    }

    @Test func aRefusedRequestIsSentAgainWithoutTheExpectation() async throws {
        let server = try FrameServer { connection, frame in
            guard frame.type == 1 else { return }
            let refusal = Frame.field(":status", "417")
            connection.send(.headers(frame.stream == 1 ? refusal : Self.ok, frame.stream, ends: true))
        }
        let (transport, body) = (HTTPTransport(), RequestBody.data(Data("body".utf8)))
        let expecting = exchange(server, body: body) { $0.request.headerFields[.expect] = "100-continue" }
        #expect(try await transport.send(expecting).head.status == 200)
        _ = try await transport.send(exchange(server, body: body))
        let requests = server.connections[0].frames.filter { $0.type == 1 }.map(\.payload)
        // All fields of these requests are in the compression context of the first request, so equal fields have equal bytes.
        #expect(requests.count == 3 && requests.last == requests.dropFirst().first)
    }

    // MARK: Bodies

    private static let pong = Array("pong".utf8)

    @Test func aBodyCanDependOnTheResponse() async throws {
        let server = try FrameServer { connection, frame in
            switch frame.type {
            case 1: connection.send(.headers(Self.ok, frame.stream), Frame(0, stream: frame.stream, Self.pong))
            case 0: connection.send(Frame(0, flags: frame.flags & 1, stream: frame.stream, Self.pong))
            default: break
            }
        }
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        let response = try await HTTPTransport().send(
            exchange(server, body: .stream(.duplex(chunks)), delivery: .stream()))
        guard case .stream(let body) = response.body else {
            Issue.record("no stream")
            return
        }
        var count = 0
        for try await part in body {
            count += part.count
            if count < 20 { input.yield(Data("ping".utf8)) } else { input.finish() }
        }
        #expect(count == 24)
        // Each part is sent at once, in a frame of its own.
        let sizes = server.connections[0].frames.filter { $0.type == 0 }.map(\.payload.count)
        #expect(sizes == [4, 4, 4, 4, 0])
    }

    /// The sequence never ends.
    @Test(arguments: [true, false]) func aCompleteResponseEndsADuplexRequest(sendsFirst: Bool) async throws {
        let server = try FrameServer { connection, frame in
            if frame.type == (sendsFirst ? 0 : 1) {
                connection.send(.headers(Self.ok, frame.stream), Frame(0, flags: 1, stream: frame.stream, Self.pong))
            }
        }
        let transport = HTTPTransport()
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        input.yield(Data("ping".utf8))
        #expect(text(try await transport.send(exchange(server, body: .stream(.duplex(chunks))))) == "pong")
        try await server.wait { $0.first?.frames.contains { $0.type == 3 } == true }
        try await waitWhile { await transport.connectionStatistics?.hosts.map(\.idle) != [1] }
        input.finish()
    }

    /// The sequence doesn't end before the response.
    @Test func aDuplexRequestOfKnownLengthIsSentCompletely() async throws {
        let server = try FrameServer { connection, frame in
            if frame.type == 0, frame.flags & 1 != 0 { connection.send(.headers(Self.ok, frame.stream, ends: true)) }
        }
        let (chunks, input) = AsyncStream.makeStream(of: Data.self)
        input.yield(Data("ping".utf8))
        var stream = RequestBodyStream(chunks, length: 4)
        stream.isDuplex = true
        #expect(try await HTTPTransport().send(exchange(server, body: .stream(stream))).head.status == 200)
        input.finish()
    }

    @Test func trailersThatAreTooLongFailTheRequest() async throws {
        let server = try FrameServer { _, _ in }
        var stream = RequestBodyStream(AsyncStream<Data> { $0.finish() })
        stream.trailers = { [.server: String(repeating: "a", count: 1 << 20)] }
        let exchange = exchange(server, body: .stream(stream))
        let error = await #expect(throws: TransportError.self) { try await HTTPTransport().send(exchange) }
        #expect(error?.code == .requestBodyFailed)
    }

    @Test(arguments: [nil, 4] as [Int64?]) func trailersFollowTheBody(length: Int64?) async throws {
        let server = try FrameServer { connection, frame in
            if frame.stream > 0, frame.flags & 1 != 0, frame.type < 2 { connection.respond(to: frame) }
        }
        var stream = RequestBodyStream(
            AsyncStream<Data> {
                $0.yield(Data("body".utf8)); $0.finish()
            }, length: length)
        let name = try #require(HTTPField.Name("x-checksum"))
        stream.trailers = { [name: "1a2b3c"] }
        _ = try await HTTPTransport().send(exchange(server, body: .stream(stream)))
        let frames = server.connections[0].frames.filter { $0.type < 2 }
        #expect(frames.map(\.type) == [1, 0, 1])
        #expect(frames.map { $0.flags & 1 } == [0, 0, 1])
        #expect(frames[1].payload == Array("body".utf8))
    }

    @Test func aFieldThatTrailersCannotContainFailsTheRequest() async throws {
        let server = try FrameServer { _, _ in }
        var stream = RequestBodyStream(AsyncStream<Data> { $0.finish() })
        stream.trailers = { [.contentLength: "4"] }
        let exchange = exchange(server, body: .stream(stream))
        let error = await #expect(throws: TransportError.self) { try await HTTPTransport().send(exchange) }
        #expect(error?.code == .requestBodyFailed)
        #expect(error?.message.contains("Content-Length") == true)
        try await server.wait { $0.first?.frames.contains { $0.type == 3 } == true }
        #expect(server.connections[0].frames.allSatisfy { $0.type > 1 || $0.flags & 1 == 0 })
    }

    /// The server refuses the first stream after it has received a part of its body.
    @Test(arguments: [true, false]) func aRefusedStreamIsSentAgainIfItIsReplayable(_ isReplayable: Bool) async throws {
        let server = try FrameServer { connection, frame in
            if frame.stream == 1, frame.type == 0 {
                connection.send(Frame(3, stream: 1, [0, 0, 0, 7]))
            } else if frame.stream == 3, frame.type == 0, frame.flags & 1 != 0 {
                connection.send(.headers(Self.ok, 3, ends: true))
            }
        }
        let stream = RequestBodyStream(length: nil, isReplayable: isReplayable) {
            let rest = Mutex([Data("ab".utf8), Data("cd".utf8)])
            return { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        }
        let exchange = exchange(server, body: .stream(stream))
        guard isReplayable else {
            let error = await #expect(throws: TransportError.self) { try await HTTPTransport().send(exchange) }
            #expect(error?.code == .connectionLost)
            return
        }
        #expect(try await HTTPTransport().send(exchange).head.status == 200)
        let sent = server.connections[0].frames.filter { $0.type == 0 && $0.stream == 3 }.flatMap(\.payload)
        #expect(sent == Array("abcd".utf8))
    }

    // MARK: Misdirected requests

    @Test func aRequestThatIsRefusedOverASharedConnectionIsSentOverAnother() async throws {
        let misdirected = Frame.field(":status", "421")
        let server = try FrameServer { connection, frame in
            guard frame.type == 1 else { return }
            let isRefused = connection.index == 0 && frame.stream > 1
            connection.send(.headers(isRefused ? misdirected : Self.ok, frame.stream, ends: true))
        }
        let transport = HTTPTransport()
        try await warmUp(transport, server)
        #expect(try await transport.send(exchange(server)).head.status == 200)
        #expect(try await transport.send(exchange(server)).head.status == 200)
        try await server.wait { $0.first?.isPeerClosed == true }
        #expect(server.connections.count == 2)
    }

    @Test func aRequestThatIsRefusedOverAFreshConnectionIsNotSentAgain() async throws {
        let server = try FrameServer { connection, frame in
            guard frame.type == 1 else { return }
            connection.send(.headers(Frame.field(":status", "421"), frame.stream, ends: true))
        }
        let transport = HTTPTransport()
        for _ in 0..<3 { #expect(try await transport.send(exchange(server)).head.status == 421) }
        #expect(server.connections.count == 3)
    }

    // MARK: Waiting

    /// The first 100 requests are sent before the server's limit arrives.
    @Test func theConnectTimerStopsWhileRequestsWaitForAStream() async throws {
        let server = try FrameServer(settings: [0, 3, 0, 0, 0, 1]) { connection, frame in
            if frame.stream > 199 { return connection.respond(to: frame) }
            DispatchQueue.global().asyncAfter(deadline: .now() + 1) { connection.respond(to: frame) }
        }
        var configuration = ConnectionConfiguration()
        configuration.maximumThreads = 1
        let transport = HTTPTransport(configuration: configuration)
        // All requests arrive before the connection is open, because the executor's thread opens it.
        try await withTaskExecutorPreference(try transport.taskExecutor) {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<120 {
                    let exchange = exchange(server) { $0.options.connectTimeout = 0.5 }
                    group.addTask { try await transport.send(exchange).head.status }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(server.connections.count == 1)
    }

    @Test func aPendingDecisionDoesNotBlockTheRequestOnWhichItDepends() async throws {
        let server = try FrameServer(settings: [0, 3, 0, 0, 0, 1]) { connection, frame in
            guard frame.stream == 3 else { return connection.respond(to: frame) }
            if frame.type == 1 { connection.send(.headers(Self.ok, 3)) }
        }
        let transport = HTTPTransport()
        try await warmUp(transport, server)
        let (pending, isUndecided) = (PendingHeadDecision(), Deferred<Void>())
        let first = exchange(server) {
            $0.decide = { _ in
                isUndecided.fulfill(())
                return .deferred(pending)
            }
        }
        async let status = transport.send(first).head.status
        await isUndecided.value(ifCancelled: ())
        #expect(try await transport.send(exchange(server)).head.status == 200)
        pending.fulfill(.take())
        server.connections[0].send(Frame(0, flags: 1, stream: 3))
        #expect(try await status == 200)
        try await waitWhile { await transport.connectionStatistics?.hosts.map(\.inUse) != [0] }
    }

    @Test func waitingRequestsMoveToAnotherConnectionAfterGoAway() async throws {
        let server = try FrameServer(settings: [0, 3, 0, 0, 0, 1]) { connection, frame in
            if connection.index > 0 || frame.stream < 3 { connection.respond(to: frame) }
        }
        let transport = HTTPTransport()
        try await warmUp(transport, server)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                let exchange = exchange(server)
                group.addTask { try await transport.send(exchange).head.status }
            }
            try await waitWhile { await transport.connectionStatistics?.hosts.map(\.waiting) != [99] }
            server.connections[0].send(Frame(7, [0, 0, 0, 3, 0, 0, 0, 0]))
            server.connections[0].send(.headers(Self.ok, 3, ends: true))
            for try await status in group { #expect(status == 200) }
        }
        try await server.wait { $0.first?.isPeerClosed == true }
        #expect(server.connections.count == 2)
        try await waitWhile { await transport.connectionStatistics?.hosts.map(\.inUse) != [0] }
    }

    @Test func requestsThatAreAlwaysRefusedFail() async throws {
        let server = try FrameServer { connection, frame in
            if frame.type == 1 { connection.send(Frame(3, stream: frame.stream, [0, 0, 0, 7])) }
        }
        let transport = HTTPTransport()
        await withTaskGroup(of: TransportError?.self) { group in
            for _ in 0..<20 {
                let exchange = exchange(server)
                group.addTask {
                    do {
                        _ = try await transport.send(exchange)
                        return nil
                    } catch {
                        return error as? TransportError
                    }
                }
            }
            for await error in group { #expect(error?.code == .connectionLost) }
        }
        try await waitWhile { await transport.connectionStatistics?.hosts.map(\.inUse) != [0] }
    }

    // MARK: Streams

    @Test func aSlowReaderBlocksOnlyItsOwnStream() async throws {
        let (chunk, limit) = ([UInt8](repeating: 7, count: 16_384), 64)
        let sent = Mutex(0)
        let server = try FrameServer { connection, frame in
            if frame.type == 1, frame.stream > 1 { return connection.respond(to: frame) }
            // The second stream's window of 1 MB is filled, then each update is used.
            var room = 0
            if frame.type == 1 {
                connection.send(.headers(Self.ok, 1))
                room = limit * chunk.count
            } else if frame.type == 8, frame.stream == 1 {
                room = frame.payload.reduce(0) { $0 << 8 | Int($1) }
            }
            while room > 0 {
                let count = min(room, chunk.count)
                connection.send(Frame(0, stream: 1, Array(chunk.prefix(count))))
                sent.withLock { $0 += count }
                room -= count
            }
        }
        let transport = HTTPTransport()
        let response = try await transport.send(exchange(server, delivery: .stream(highWaterMark: 1_000)))
        guard case .stream(let body) = response.body else {
            Issue.record("no stream")
            return
        }
        for _ in 0..<50 { #expect(try await transport.send(exchange(server)).head.status == 200) }
        #expect(sent.withLock(\.self) <= 4 << 20)
        var count = 0
        for try await part in body {
            #expect(part.allSatisfy { $0 == 7 })
            count += part.count
            if count > 10 << 20 { break }
        }
        #expect(server.connections.count == 1)
    }

    @Test func nothingRetainsAnExchangeAfterItsEnd() async throws {
        let server = try FrameServer { connection, frame in
            if frame.stream != 3 { connection.respond(to: frame) }
        }
        let transport = HTTPTransport()
        weak var control: ExchangeControl?
        for _ in 0..<30 {
            let exchange = exchange(server) { $0.options.totalTimeout = 0.05 }
            control = exchange.control
            _ = try? await transport.send(exchange)
        }
        for _ in 0..<1_000 where control != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(control == nil)
        weak var released: HTTPTransport?
        do {
            let transport = HTTPTransport()
            released = transport
            let exchange = exchange(server)
            let task = Task { try await transport.send(exchange) }
            _ = try await task.value
        }
        #expect(released == nil)
    }
}

extension RequestBodyStream {
    fileprivate static func duplex(_ chunks: AsyncStream<Data>) -> RequestBodyStream {
        var stream = RequestBodyStream(chunks)
        stream.isDuplex = true
        return stream
    }
}
