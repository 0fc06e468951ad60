import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Asynchronous sequences of streams from a real server.
@Suite struct DataStreamTaskTests {
    static let kinds = TransportKind.all(with: [.streamedDelivery])

    @Test(arguments: kinds, [true, false])
    func theChunksFormTheBodyAndTheCompletionIsLast(
        kind: TransportKind, isBuffered: Bool
    ) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let task = session.streamRequest(server.url("/large/3000000")).validate().streamTask()
        var bytes = Data()
        var completions: [DataStreamRequest.Completion] = []
        for await stream in task.streamingData(bufferingPolicy: isBuffered ? .unbounded : nil) {
            if let chunk = stream.value { bytes += chunk }
            if let completion = stream.completion {
                completions.append(completion)
            } else {
                #expect(completions.isEmpty)
            }
        }
        #expect(bytes == PatternBytes.bytes(3_000_000))
        #expect(completions.count == 1)
        #expect(completions.first?.error == nil)
        #expect(completions.first?.response?.statusCode == 200)
        await server.stop()
    }

    @Test(arguments: kinds)
    func textArrivesCompletely(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        var text = ""
        for await stream in session.streamRequest(server.url("/stream/1000")).streamTask().streamingStrings() {
            text += stream.value ?? ""
        }
        #expect(text.split(separator: "\n").count == 1000)
        await server.stop()
    }

    @Test(arguments: kinds)
    func aDocumentIsDecoded(kind: TransportKind) async throws {
        struct Item: Decodable, Sendable, Equatable { let id: Int }
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"id\":7}"
        let server = try await RawServer.start([.respond(answer)])
        let session = kind.session()
        var items: [Item] = []
        for await stream in session.streamRequest(server.url).streamTask().streamingDecodables(Item.self) {
            if let item = stream.value { items.append(item) }
        }
        #expect(items == [Item(id: 7)])
        await server.stop()
    }

    /// 200 MB exceed the total size of all buffers between the server and the loop.
    @Test(arguments: TransportKind.all(with: [.streamedDelivery, .backpressure]))
    func aSlowLoopAppliesBackpressure(kind: TransportKind) async throws {
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
        let request = session.streamRequest(server.url("/counted"))
        var count = 0
        for await stream in request.streamTask().streamingData() {
            if count == 0 {
                // Without backpressure, the first stream would complete first.
                for await _ in session.streamRequest(server.url("/other")).streamTask().streamingData() {}
                #expect(written.withLock { $0 } < total / 2)
            }
            count += stream.value?.count ?? 0
        }
        #expect(count == total)
        await server.stop()
    }

    @Test(arguments: kinds, [true, false])
    func leavingTheLoopCancelsTheRequest(
        kind: TransportKind, isBuffered: Bool
    ) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.streamRequest(server.url("/drip?bytes=1000&seconds=60"))
        for await _ in request.streamTask().streamingData(bufferingPolicy: isBuffered ? .unbounded : nil) { break }
        #expect(request.isCancelled)
        await server.stop()
    }

    @Test(arguments: kinds)
    func leavingTheLoopKeepsTheRequestOnRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let log = StreamLog<Data>()
        let request = session.streamRequest(server.url("/large/3000000"))
            .responseStream(on: log.queue, stream: log.note)
        for await _ in request.streamTask().streamingData(automaticallyCancelling: false) { break }
        #expect(await log.completion.error == nil)
        await server.stop()
    }

    @Test(arguments: kinds)
    func cancellingTheTaskCancelsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.streamRequest(server.url("/drip?bytes=1000&seconds=60"))
        let arrived = Signal()
        let reader = Task {
            for await _ in request.streamTask().streamingData() { arrived.set() }
        }
        await arrived.wait()
        reader.cancel()
        await reader.value
        #expect(request.isCancelled)
        await server.stop()
    }

    @Test(arguments: kinds)
    func cancellingTheRequestEndsTheLoop(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let task = session.streamRequest(server.url("/drip?bytes=1000&seconds=60")).streamTask()
        var last: DataStreamRequest.Completion?
        for await stream in task.streamingData() {
            if stream.value != nil { task.cancel() }
            last = stream.completion
        }
        #expect(last?.error?.isExplicitlyCancelledError == true)
        await server.stop()
    }
}
