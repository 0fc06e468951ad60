import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Handlers that receive a response's head and can reject it.
@Suite struct ResponseDispositionTests {
    private let queue = DispatchQueue(label: "heads")

    @Test(arguments: TransportKind.allCases, [true, false])
    func aHandlerDecides(kind: TransportKind, allows: Bool) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.request(server.url("/large/1000"))
            .onHTTPResponse(on: queue) { response, answer in
                answer(allows && response.statusCode == 200 ? .allow : .cancel)
            }
            .serializingData().response
        #expect(response.value?.count == (allows ? 1000 : nil))
        #expect(response.error?.isExplicitlyCancelledError == (allows ? nil : true))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [true, false])
    func anAsynchronousHandlerDecides(kind: TransportKind, allows: Bool) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.request(server.url("/large/1000"))
            .onHTTPResponse { response in
                await Task.yield()
                return allows ? .allow : .cancel
            }
            .serializingData().response
        #expect(response.value?.count == (allows ? 1000 : nil))
        await server.stop()
    }

    /// Starts a server with a body of 1,000 bytes, and returns a signal for the end of writing.
    private func server() async throws -> (TestServer, isWritten: DispatchSemaphore) {
        let isWritten = DispatchSemaphore(value: 0)
        let server = try await TestServer.start()
        server.route("/body") { _ in
            ServerResponse(length: 1000) { body in
                try body.write(PatternBytes.bytes(1000))
                isWritten.signal()
            }
        }
        return (server, isWritten)
    }

    /// The small body arrives together with its head, but no handler receives any of it.
    @Test(arguments: TransportKind.allCases, [true, false])
    func noBodyIsDeliveredAfterCancellation(kind: TransportKind, isAnswered: Bool) async throws {
        let (server, isWritten) = try await server()
        let session = kind.session()
        let request = session.request(server.url("/body"))
        if isAnswered {
            request.onHTTPResponse(on: queue) { _, answer in
                isWritten.wait()
                answer(.cancel)
            }
        } else {
            request.onHTTPResponse(on: queue) { [weak request] (_: HTTPURLResponse) in
                isWritten.wait()
                request?.cancel()
            }
        }
        let response = await request.serializingData().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(response.response?.statusCode == 200)
        #expect(response.data == nil)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .streamedDelivery))
    func noStreamIsDeliveredAfterCancellation(kind: TransportKind) async throws {
        let (server, isWritten) = try await server()
        let session = kind.session()
        let seen = StreamLog<Data>()
        let request = session.streamRequest(server.url("/body"))
        request.onHTTPResponse(on: queue) { [weak request] (_: HTTPURLResponse) in
            isWritten.wait()
            request?.cancel()
        }
        .responseStream(on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error?.isExplicitlyCancelledError == true)
        #expect(seen.events.count == 1)
        await server.stop()
    }

    /// The response is rejected as soon as the head arrives, although the body continues for a long time.
    @Test(arguments: TransportKind.allCases)
    func aRejectionDoesNotWaitForTheBody(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.request(server.url("/drip?bytes=1000&seconds=60"))
            .onHTTPResponse(on: queue) { _, answer in answer(.cancel) }
            .serializingData().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    @Test func theFirstRejectionIsUsed() async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let requested = Locked<[Int]>([])
        let request = session.request(server.url("/large/1000"))
        for (index, answer) in [Request.ResponseDisposition.allow, .cancel, .allow].enumerated() {
            request.onHTTPResponse(on: queue) { _, completion in
                requested.withLock { $0.append(index) }
                completion(answer)
            }
        }
        #expect(await request.serializingData().response.error?.isExplicitlyCancelledError == true)
        #expect(requested.withLock { $0 } == [0, 1])
        await server.stop()
    }

    @Test func cancellationEndsTheWaitForAHandler() async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let requested = Signal()
        let request = session.request(server.url("/large/1000"))
            .onHTTPResponse(on: queue) { _, _ in requested.set() }
        async let response = request.serializingData().response
        await requested.wait()
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    @Test func aLateHandlerIsCalledImmediately() async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let request = session.request(server.url("/large/1000"))
        _ = await request.serializingData().response
        let status = await withCheckedContinuation { continuation in
            request.onHTTPResponse(on: queue) { (response: HTTPURLResponse) in
                continuation.resume(returning: response.statusCode)
            }
        }
        #expect(status == 200)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aHandlerAddedDuringTheBodyIsCalledImmediately(kind: TransportKind) async throws {
        let gate = RawServer.Gate()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"
        let server = try await RawServer.start([.respond(head + "half"), .hold(gate), .send("more"), .waitForever])
        let session = kind.session()
        let requested = Signal()
        let request = session.request(server.url).onHTTPResponse(on: queue) { (_: HTTPURLResponse) in requested.set() }
        async let response = request.serializingData().response
        await requested.wait()
        let late = Locked(0)
        await withCheckedContinuation { continuation in
            request.onHTTPResponse(on: queue) { (_: HTTPURLResponse) in
                let isFirst = late.withLock { late in
                    late += 1
                    return late == 1
                }
                if isFirst { continuation.resume() }
            }
        }
        gate.open()
        #expect(await response.value == Data("halfmore".utf8))
        queue.sync {}
        #expect(late.withLock { $0 } == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.streamedDelivery]))
    func aStreamedBodyWaitsForTheDecision(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let chunks = Locked(0)
        let response = await session.request(server.url("/large/1000"))
            .stream { _ in chunks.withLock { $0 += 1 } }
            .onHTTPResponse(on: queue) { _, answer in answer(.cancel) }
            .serializingData().response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(chunks.withLock { $0 } == 0)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func headsCanBeAwaited(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.request(server.url("/large/1000"))
        let heads = request.httpResponses()
        var statuses: [Int] = []
        request.resume()
        for await head in heads { statuses.append(head.statusCode) }
        #expect(statuses == [200])
        var late: [Int] = []
        for await head in request.httpResponses() { late.append(head.statusCode) }
        #expect(late == [200])
        await server.stop()
    }
}
