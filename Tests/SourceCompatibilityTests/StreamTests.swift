import Afar
import AfarTestServer
import Foundation
import Testing

/// Streams, as in code for Alamofire 5.
@Suite struct StreamTests {
    private struct Line: Decodable, Sendable {
        let id: Int
        let text: String
    }

    @Test func closures() async throws {
        let server = try await TestServer.start()
        let text = await withCheckedContinuation { continuation in
            let collector = Collector()
            AF.streamRequest(server.url("/chunked/20"))
                .validate(statusCode: 200..<300)
                .validate(contentType: ["text/plain"])
                .responseStream(on: collector.queue) { stream in
                    switch stream.event {
                    case let .stream(result):
                        switch result {
                        case let .success(data): collector.append(data)
                        }
                    case let .complete(completion):
                        #expect(completion.response?.statusCode == 200)
                        #expect(completion.request?.httpMethod == "GET")
                        #expect(completion.metrics != nil)
                        continuation.resume(returning: completion.error == nil ? collector.text : "failed")
                    }
                }
        }
        #expect(text.split(separator: "\n").count == 20)
        await server.stop()
    }

    @Test func stringsAndParameters() async throws {
        let server = try await TestServer.start()
        let text = await withCheckedContinuation { continuation in
            let collector = Collector()
            AF.streamRequest(
                server.url("/get"), method: .get, parameters: ["name": "Ada"], headers: ["X-A": "b"],
                automaticallyCancelOnStreamError: true
            )
            .downloadProgress { progress in print(progress.fractionCompleted) }
            .responseStreamString(on: collector.queue) { stream in
                if case let .stream(.success(text)) = stream.event { collector.append(Data(text.utf8)) }
                if case .complete = stream.event { continuation.resume(returning: collector.text) }
            }
        }
        #expect(text.contains("name=Ada"))
        await server.stop()
    }

    @Test func decodables() async throws {
        let server = try await TestServer.start()
        let lines = await withCheckedContinuation { continuation in
            nonisolated(unsafe) var lines: [Line] = []
            let queue = DispatchQueue(label: "lines")
            AF.streamRequest(server.url("/stream/1")).responseStreamDecodable(of: Line.self, on: queue) { stream in
                switch stream.event {
                case let .stream(result):
                    switch result {
                    case let .success(line): lines.append(line)
                    case let .failure(error): print(error)
                    }
                case .complete: continuation.resume(returning: lines)
                }
            }
        }
        #expect(lines.map(\.id) == [0])
        await server.stop()
    }

    @Test func serializersAndCancelling() async throws {
        struct Counting: DataStreamSerializer {
            func serialize(_ data: Data) throws -> Int { data.count }
        }
        let server = try await TestServer.start()
        let error = await withCheckedContinuation { continuation in
            AF.streamRequest(server.url("/drip?bytes=1000&seconds=60"))
                .responseStream(using: Counting(), on: .global()) { stream in
                    switch stream.event {
                    case .stream: stream.cancel()
                    case let .complete(completion): continuation.resume(returning: completion.error)
                    }
                }
        }
        #expect(error?.isExplicitlyCancelledError == true)
        await server.stop()
    }

    @Test func inputStreams() async throws {
        let server = try await TestServer.start()
        let request = AF.streamRequest(server.url("/large/1000")).onHTTPResponse { response in
            print(response.statusCode)
        }
        let stream = try #require(request.asInputStream())
        stream.open()
        defer { stream.close() }
        let count = await withCheckedContinuation { continuation in
            nonisolated(unsafe) let stream = stream
            DispatchQueue.global().async {
                var buffer = [UInt8](repeating: 0, count: 100)
                var count = 0
                while case let read = stream.read(&buffer, maxLength: buffer.count), read > 0 { count += read }
                continuation.resume(returning: count)
            }
        }
        #expect(count == 1000)
        await server.stop()
    }

    @Test func awaiting() async throws {
        let server = try await TestServer.start()
        let task = AF.streamRequest(server.url("/chunked/20")).streamTask()
        var bytes = 0
        for await stream in task.streamingData() {
            switch stream.event {
            case let .stream(.success(data)): bytes += data.count
            case let .complete(completion): #expect(completion.error == nil)
            }
        }
        #expect(bytes > 0)
        var pieces: [String] = []
        for await string in AF.streamRequest(server.url("/chunked/2")).streamTask().streamingStrings(
            automaticallyCancelling: true, bufferingPolicy: .unbounded)
        {
            if case .success(let piece) = string.result { pieces.append(piece) }
        }
        #expect(pieces.joined().split(separator: "\n").count == 2)
        for await line in AF.streamRequest(server.url("/stream/1")).streamTask().streamingDecodables(Line.self) {
            if let completion = line.completion {
                #expect(completion.error == nil)
            } else {
                #expect(line.value?.id == 0)
            }
        }
        await server.stop()
    }

    @Test @MainActor func onTheMainActor() async throws {
        let server = try await TestServer.start()
        final class Model {
            var bytes = 0
        }
        let model = Model()
        let request = AF.streamRequest(server.url("/large/1000"))
        for await stream in request.streamTask().streamingData() { model.bytes += stream.value?.count ?? 0 }
        #expect(model.bytes == 1000)
        await server.stop()
    }

    @Test func uploadsOfStreams() async throws {
        let server = try await TestServer.start()
        let stream = InputStream(data: Data("from a stream".utf8))
        let value = try await AF.upload(stream, to: server.url("/post"), headers: ["Content-Type": "text/plain"])
            .uploadProgress { progress in print(progress.completedUnitCount) }
            .validate()
            .serializingDecodable(Echo.self).value
        #expect(value.data == "from a stream")
        await server.stop()
    }

    /// Collects a stream's events on its queue.
    private final class Collector: @unchecked Sendable {
        let queue = DispatchQueue(label: "collector")
        private var bytes = Data()

        var text: String { String(decoding: bytes, as: UTF8.self) }

        func append(_ data: Data) { bytes.append(data) }
    }
}
