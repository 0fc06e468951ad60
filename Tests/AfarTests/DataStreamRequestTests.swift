import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Stream requests to a real server, over each transport that can stream responses.
@Suite struct DataStreamRequestTests {
    static let kinds = TransportKind.all(with: [.streamedDelivery])
    static let holdingBack = TransportKind.all(with: [.streamedDelivery, .backpressure])

    @Test(arguments: kinds)
    func theChunksFormTheBodyAndTheCompletionIsLast(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        session.streamRequest(server.url("/large/3000000")).validate().responseStream(on: seen.queue, stream: seen.note)
        let completion = await seen.completion
        #expect(completion.error == nil)
        #expect(completion.response?.statusCode == 200)
        #expect(completion.request?.url == server.url("/large/3000000"))
        if kind.measures {
            #expect(completion.metrics?.transactionMetrics.last?.countOfResponseBodyBytesReceived == 3_000_000)
        }
        let events = seen.events
        #expect(events.compactMap(\.value).reduce(Data(), +) == PatternBytes.bytes(3_000_000))
        #expect(events.filter { $0.completion != nil }.count == 1)
        #expect(events.last?.completion != nil)
        await server.stop()
    }

    @Test(arguments: kinds)
    func anEmptyBodyCompletes(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        session.streamRequest(server.url("/empty")).responseStream(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error == nil)
        #expect(seen.events.count == 1)
        await server.stop()
    }

    @Test(arguments: kinds)
    func everyHandlerReceivesTheCompleteBody(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let (first, second) = (StreamLog<Data>(), StreamLog<Data>())
        session.streamRequest(server.url("/large/1000000"))
            .responseStream(on: first.queue, stream: first.note)
            .responseStream(on: second.queue, stream: second.note)
        for seen in [first, second] {
            _ = await seen.completion
            #expect(seen.events.compactMap(\.value).reduce(Data(), +) == PatternBytes.bytes(1_000_000))
        }
        await server.stop()
    }

    /// The body of an error response isn't part of the stream.
    @Test(arguments: kinds)
    func invalidResponsesAreNotDelivered(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        session.streamRequest(server.url("/status/503")).validate().responseStream(on: seen.queue, stream: seen.note)
        let completion = await seen.completion
        #expect(completion.error?.responseCode == 503)
        #expect(completion.metrics != nil)
        #expect(seen.events.count == 1)
        await server.stop()
    }

    @Test(arguments: kinds, [true, false])
    func aThrowingHandlerEndsTheStream(kind: TransportKind, cancels: Bool) async throws {
        struct Enough: Error {}
        let server = try await TestServer.start()
        let session = kind.session()
        let (seen, others) = (StreamLog<Data>(), StreamLog<Data>())
        let request = session.streamRequest(
            server.url("/large/5000000"), automaticallyCancelOnStreamError: cancels,
            interceptor: .retrier { _, _, _, completion in completion(.retry) }
        )
        .responseStream(on: seen.queue) { stream in
            try seen.note(stream)
            throw Enough()
        }
        .responseStream(on: others.queue, stream: others.note)
        let error = await seen.completion.error
        guard case .responseSerializationFailed(.customSerializationFailed(let cause)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is Enough)
        #expect(seen.events.count == 2)
        #expect(seen.events.last?.completion != nil)
        #expect(await others.completion.error?.isResponseSerializationError == true)
        #expect(others.events.count <= 2)
        #expect(request.isCancelled)
        #expect(request.retryCount == 0)
        await server.stop()
    }

    @Test(arguments: kinds, [true, false])
    func anInvalidChunkCancelsOnRequest(kind: TransportKind, cancels: Bool) async throws {
        struct Item: Decodable {}
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Item>()
        session.streamRequest(server.url("/large/5000000"), automaticallyCancelOnStreamError: cancels)
            .responseStreamDecodable(of: Item.self, on: seen.queue, stream: seen.note)
        let error = await seen.completion.error
        #expect(error?.isExplicitlyCancelledError == (cancels ? true : nil))
        let errors = seen.events.compactMap(\.error)
        #expect(!errors.isEmpty)
        #expect(errors.allSatisfy { $0.isResponseSerializationError })
        await server.stop()
    }

    @Test(arguments: kinds)
    func theTokenCancels(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        let request = session.streamRequest(server.url("/large/50000000")).responseStream(on: seen.queue) { stream in
            try seen.note(stream)
            stream.cancel()
        }
        let completion = await seen.completion
        #expect(completion.error?.isExplicitlyCancelledError == true)
        #expect(completion.metrics != nil)
        #expect(request.isCancelled)
        #expect(seen.events.count == 2)
        await server.stop()
    }

    /// The handler is busy until the server has received the end of the connection.
    @Test(arguments: kinds)
    func cancellationDoesNotWaitForABusyHandler(kind: TransportKind) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        let server = try await RawServer.start([.respond(head + "half"), .waitForever])
        let session = kind.session()
        let seen = StreamLog<Data>()
        let entered = Signal()
        let gate = DispatchSemaphore(value: 0)
        let request = session.streamRequest(server.url).responseStream(on: seen.queue) { stream in
            if stream.value != nil {
                entered.set()
                gate.wait()
            }
            try seen.note(stream)
        }
        await entered.wait()
        request.cancel()
        try await server.peerClosed(0)
        #expect(seen.events.isEmpty)
        gate.signal()
        #expect(await seen.completion.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    @Test(arguments: kinds)
    func chunksAreNotDeliveredAfterCancellation(kind: TransportKind) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        let server = try await RawServer.start([.respond(head + "half"), .waitForever])
        let session = kind.session()
        let seen = StreamLog<Data>()
        let arrived = Signal()
        let request = session.streamRequest(server.url)
        request.responseStream(on: DispatchQueue(label: "first")) { _ in arrived.set() }
        seen.queue.suspend()
        request.responseStream(on: seen.queue, stream: seen.note)
        await arrived.wait()
        request.cancel()
        seen.queue.resume()
        #expect(await seen.completion.error?.isExplicitlyCancelledError == true)
        #expect(seen.events.count == 1)
        await server.stop()
    }

    /// The first attempt is interrupted within a character.
    @Test(arguments: kinds)
    func aRetryRestartsTheText(kind: TransportKind) async throws {
        struct RetryOnce: RequestInterceptor {
            func retry(
                _ request: Request, for session: Session, dueTo error: any Error,
                completion: @escaping (RetryResult) -> Void
            ) {
                completion(request.retryCount == 0 ? .retry : .doNotRetry)
            }
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
        let server = try await RawServer.start(scripts: [
            [.respond(head), .send([0x61, 0xC3]), .close], [.respond(head + "abc"), .waitForever],
        ])
        let session = kind.session()
        let seen = StreamLog<String>()
        session.streamRequest(server.url, interceptor: RetryOnce())
            .responseStreamString(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error == nil)
        #expect(seen.events.compactMap(\.value).joined() == "aabc")
        await server.stop()
    }

    /// 200 MB exceed the total size of all buffers between the server and the handler.
    @Test(arguments: holdingBack)
    func aSlowHandlerAppliesBackpressure(kind: TransportKind) async throws {
        let total = 200_000_000
        let written = Locked(0)
        let server = try await TestServer.start()
        server.route("/{name}") { request in
            ServerResponse(length: total) { [isCounted = request.path == "/counted"] body in
                let block = Data(repeating: 1, count: 1_000_000)
                for _ in 0..<(total / block.count) {
                    try body.write(block)
                    if isCounted { written.withLock { $0 += block.count } }
                }
            }
        }
        let session = kind.session()
        let gate = DispatchSemaphore(value: 0)
        let seen = StreamLog<Data>()
        let arrived = Signal()
        session.streamRequest(server.url("/counted")).responseStream(on: seen.queue) { stream in
            arrived.set()
            gate.wait()
            gate.signal()
            try seen.note(stream, keepsData: false)
        }
        await arrived.wait()
        // Without backpressure, the first stream would complete first.
        for await _ in session.streamRequest(server.url("/other")).streamTask().streamingData() {}
        #expect(written.withLock { $0 } < total / 2)
        gate.signal()
        #expect(await seen.completion.error == nil)
        #expect(written.withLock { $0 } == total)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.streamedDelivery, .suspension]))
    func aSuspendedStreamDeliversNothing(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        let request = session.streamRequest(server.url("/large/5000000"))
        let suspended = Signal()
        request.responseStream(on: seen.queue) { [weak request] stream in
            try seen.note(stream)
            if seen.events.count == 1 {
                request?.suspend()
                suspended.set()
            }
        }
        await suspended.wait()
        // This stream has the same size as the first one, which would complete first if it weren't suspended.
        for await _ in session.streamRequest(server.url("/large/5000000")).streamTask().streamingData() {}
        seen.queue.sync {}
        #expect(seen.events.count == 1)
        request.resume()
        #expect(await seen.completion.error == nil)
        #expect(seen.events.compactMap(\.value).reduce(Data(), +) == PatternBytes.bytes(5_000_000))
        await server.stop()
    }

    @Test(arguments: kinds)
    func aTruncatedBodyIsTheCompletionsError(kind: TransportKind) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        let server = try await RawServer.start([.respond(head + "half"), .close])
        let session = kind.session()
        let seen = StreamLog<Data>()
        session.streamRequest(server.url).responseStream(on: seen.queue, stream: seen.note)
        let completion = await seen.completion
        #expect(completion.error?.isSessionTaskError == true)
        if kind.measures { #expect(completion.metrics?.transactionMetrics.last?.countOfResponseBodyBytesReceived == 4) }
        #expect(seen.events.compactMap(\.value) == [Data("half".utf8)])
        await server.stop()
    }

    @Test(arguments: kinds)
    func aLateHandlerReceivesTheCompletion(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let (first, late) = (StreamLog<Data>(), StreamLog<Data>())
        let request = session.streamRequest(server.url("/large/1000"))
            .responseStream(on: first.queue, stream: first.note)
        _ = await first.completion
        request.responseStream(on: late.queue, stream: late.note)
        #expect(await late.completion.response?.statusCode == 200)
        #expect(late.events.count == 1)
        await server.stop()
    }

    /// The server sends each document after the previous one was received, so each is a separate chunk.
    @Test(arguments: kinds)
    func eachChunkIsDecodedSeparately(kind: TransportKind) async throws {
        struct Item: Decodable, Equatable { let id: Int }
        let gates = (0..<3).map { _ in RawServer.Gate() }
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        var script: [RawServer.Step] = [.receiveHead, .send(head)]
        for (id, gate) in gates.enumerated() { script += [.hold(gate), .send("8\r\n{\"id\":\(id)}\r\n")] }
        let server = try await RawServer.start(script + [.send("0\r\n\r\n"), .waitForever])
        let session = kind.session()
        let seen = StreamLog<Item>()
        gates[0].open()
        session.streamRequest(server.url).responseStreamDecodable(of: Item.self, on: seen.queue) { stream in
            try seen.note(stream)
            if let id = stream.value?.id, id < 2 { gates[id + 1].open() }
        }
        #expect(await seen.completion.error == nil)
        #expect(seen.events.compactMap(\.value) == (0..<3).map(Item.init))
        await server.stop()
    }

    /// The bytes arrive one at a time, but characters are delivered as a whole.
    @Test(arguments: kinds)
    func aCharacterIsNeverSplit(kind: TransportKind) async throws {
        let text = "aé日🛰"
        let seen = StreamLog<String>()
        let bytes = Array(text.utf8) + [0xF0, 0x9F]
        let gates = bytes.map { _ in RawServer.Gate() }
        var script: [RawServer.Step] = [
            .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n"),
        ]
        for (byte, gate) in zip(bytes, gates) { script += [.hold(gate), .send([byte])] }
        let server = try await RawServer.start(script)
        let session = kind.session()
        let next = Locked(1)
        gates[0].open()
        let request = session.streamRequest(server.url)
        request.responseStream(on: seen.queue) { stream in
            guard stream.value != nil else { return }
            let index = next.withLock { next in
                defer { next += 1 }
                return next
            }
            if index < gates.count { gates[index].open() }
        }
        request.responseStreamString(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error == nil)
        #expect(seen.events.compactMap(\.value) == ["a", "é", "日", "🛰", "\u{FFFD}"])
        await server.stop()
    }

    @Test(.timeLimit(.minutes(1)), arguments: kinds)
    func handlersThatRetainTheRequestAreReleased(kind: TransportKind) async throws {
        final class Sentinel: Sendable {
            let gone = Signal()
            deinit { gone.set() }
        }
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        func start() -> Signal {
            let sentinel = Sentinel()
            let request = session.streamRequest(server.url("/large/1000"))
            request.onHTTPResponse(on: seen.queue) { (_: HTTPURLResponse) in withExtendedLifetime(request) {} }
                .responseStream(on: seen.queue) { stream in
                    withExtendedLifetime((request, sentinel)) {}
                    try seen.note(stream)
                }
            return sentinel.gone
        }
        let gone = start()
        #expect(await seen.completion.error == nil)
        await gone.wait()
        await server.stop()
    }

    @Test(arguments: kinds)
    func aReleasedSessionEndsTheStream(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        var session: Session? = kind.session()
        let seen = StreamLog<Data>()
        let arrived = Signal()
        session?.streamRequest(server.url("/drip?bytes=1000&seconds=60")).responseStream(on: seen.queue) { stream in
            try seen.note(stream)
            arrived.set()
        }
        await arrived.wait()
        session = nil
        #expect(await seen.completion.error?.isSessionDeinitializedError == true)
        await server.stop()
    }

    @Test(arguments: kinds, [1, 1024, 10_000_000])
    func anInputStreamContainsTheCompleteBody(kind: TransportKind, bufferSize: Int) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.streamRequest(server.url("/large/3000000"))
        let stream = UncheckedStream(try #require(request.asInputStream(bufferSize: bufferSize)))
        let bytes = await stream.readToEnd()
        #expect(bytes == PatternBytes.bytes(3_000_000))
        #expect(stream.value.streamStatus == .atEnd)
        await server.stop()
    }

    @Test(arguments: kinds)
    func closingAnInputStreamEarlyCancelsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        let request = session.streamRequest(server.url("/large/50000000"))
        let stream = try #require(request.asInputStream())
        request.responseStream(on: seen.queue) { if $0.completion != nil { try seen.note($0) } }
        stream.close()
        #expect(await seen.completion.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    @Test(arguments: kinds)
    func anInputStreamReportsTheError(kind: TransportKind) async throws {
        let session = kind.session()
        let stream = UncheckedStream(try #require(session.streamRequest("http://127.0.0.1:1").asInputStream()))
        #expect(await stream.readToEnd().isEmpty)
        #expect(stream.value.streamStatus == .error)
        #expect(stream.value.streamError is AFError)
    }

    @Test(arguments: kinds)
    func theHeadIsReportedBeforeTheBody(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        let reported = Locked<[String]>([])
        session.streamRequest(server.url("/large/100000"))
            .onHTTPResponse(on: seen.queue) { response in reported.withLock { $0.append("head \(response.statusCode)") }
            }
            .responseStream(on: seen.queue) { stream in
                try seen.note(stream)
                reported.withLock { $0.append("stream") }
            }
        _ = await seen.completion
        let order = reported.withLock { $0 }
        #expect(order.first == "head 200")
        #expect(order.filter { $0 != "stream" }.count == 1)
        await server.stop()
    }

    @Test(arguments: kinds)
    func theHeadsHandlerCanReject(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Data>()
        session.streamRequest(server.url("/large/100000"))
            .onHTTPResponse(on: seen.queue) { _, answer in answer(.cancel) }
            .responseStream(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error?.isExplicitlyCancelledError == true)
        #expect(seen.events.count == 1)
        await server.stop()
    }
}

/// Wraps an input stream that is read on a dedicated thread.
private struct UncheckedStream: @unchecked Sendable {
    // Sendable because the test waits while the thread reads.
    let value: InputStream

    init(_ value: InputStream) { self.value = value }

    func readToEnd() async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                value.open()
                var bytes = Data()
                var buffer = [UInt8](repeating: 0, count: 10_000)
                while case let count = value.read(&buffer, maxLength: buffer.count), count > 0 {
                    bytes.append(contentsOf: buffer[..<count])
                }
                continuation.resume(returning: bytes)
            }
        }
    }
}
