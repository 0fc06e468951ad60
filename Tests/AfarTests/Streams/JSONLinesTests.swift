import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Values from a real server's JSON Lines.
@Suite struct JSONLinesTests {
    struct Line: Codable, Sendable, Equatable {
        let id: Int
        let text: String
    }

    static let kinds = TransportKind.all(with: [.streamedDelivery])

    @Test(arguments: kinds)
    func everyLineIsAValue(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let seen = StreamLog<Line>()
        session.streamRequest(server.url("/stream/1000"))
            .response(.jsonLines(of: Line.self), on: seen.queue, stream: seen.note)
        #expect(await seen.completion.error == nil)
        #expect(seen.events.compactMap(\.value?.id) == Array(0..<1000))
        #expect(seen.events.compactMap(\.error).isEmpty)
        await server.stop()
    }

    @Test(arguments: kinds)
    func linesAreAwaited(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        var ids: [Int] = []
        let request = session.streamRequest(server.url("/stream/1000"))
        for await stream in request.serializing(.jsonLines(of: Line.self)) {
            if let line = stream.value { ids.append(line.id) }
        }
        #expect(ids == Array(0..<1000))
        // The property, not a method with the same name.
        let response = request.response
        #expect(response?.statusCode == 200)
        #expect(request.response != nil)
        await server.stop()
    }

    @Test(arguments: kinds)
    func aTextSequenceIsAwaited(kind: TransportKind) async throws {
        let body = "\u{1E}{\"id\":1,\n\"text\":\"a\"}\n\u{1E}{\"id\":2,\"text\":\"b\"}\n"
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
        ])
        let session = kind.session()
        let request = session.streamRequest(server.url)
        let seen = StreamLog<Line>()
        request.response(.jsonTextSequence(of: Line.self), on: seen.queue, stream: seen.note)
        var ids: [Int] = []
        for await stream in request.serializing(.jsonTextSequence(of: Line.self)) {
            if let line = stream.value { ids.append(line.id) }
        }
        #expect(ids == [1, 2])
        _ = await seen.completion
        #expect(seen.events.compactMap(\.value?.id) == [1, 2])
        await server.stop()
    }

    /// Values before the invalid line are delivered, even if they arrived in the same chunk.
    @Test(arguments: kinds, [true, false])
    func anInvalidLineCancelsOnRequest(kind: TransportKind, cancels: Bool) async throws {
        let body = (0..<5).map { $0 == 2 ? "broken" : #"{"id":\#($0),"text":""}"# }.joined(separator: "\n")
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count + 100)\r\n\r\n" + body + "\n"),
            .send(String(repeating: "\n", count: 99)),
        ])
        let session = kind.session()
        let seen = StreamLog<Line>()
        session.streamRequest(server.url, automaticallyCancelOnStreamError: cancels)
            .response(.jsonLines(of: Line.self), on: seen.queue, stream: seen.note)
        let error = await seen.completion.error
        #expect(error?.isExplicitlyCancelledError == (cancels ? true : nil))
        #expect(seen.events.compactMap(\.value?.id) == (cancels ? [0, 1] : [0, 1, 3, 4]))
        let errors = seen.events.compactMap { $0.error?.underlyingError as? JSONStreamError }
        #expect(errors.map(\.number) == [3])
        await server.stop()
    }

    @Test(arguments: kinds)
    func aPartialLineIsNotDelivered(kind: TransportKind) async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + #"{"id":1,"text":""}"# + "\n12"), .close,
        ])
        let session = kind.session()
        var values: [Line] = []
        var errors: [AFError] = []
        var end: AFError?
        for await stream in session.streamRequest(server.url).serializing(.jsonLines(of: Line.self)) {
            if let value = stream.value { values.append(value) }
            if let error = stream.error { errors.append(error) }
            if let completion = stream.completion { end = completion.error }
        }
        #expect(values.map(\.id) == [1])
        #expect(errors.isEmpty)
        #expect(end?.isSessionTaskError == true)
        await server.stop()
    }

    /// A retry receives the body from the first byte. The values contain nothing from the previous attempt.
    @Test func aRetryStartsWithANewParser() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + #"{"id":1,"te"#), .reset],
            [.respond("HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n" + #"{"id":2,"text":""}"# + "\n")],
        ])
        let session = TransportKind.platform.session(interceptor: RetryPolicy(exponentialBackoffScale: 0.001))
        var values: [Line] = []
        var errors: [AFError] = []
        for await stream in session.streamRequest(server.url).serializing(.jsonLines(of: Line.self)) {
            if let value = stream.value { values.append(value) }
            if let error = stream.error { errors.append(error) }
        }
        #expect(values.map(\.id) == [2])
        #expect(errors.isEmpty)
        #expect(server.requests.count == 2)
        await server.stop()
    }
}
