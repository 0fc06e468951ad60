import Afar
import AfarTestServer
import Foundation
import Testing

@testable import AfarMultipart

/// Multipart responses from a server, and forms that a server receives.
@Suite(.timeLimit(.minutes(1))) struct MultipartPartsTests {
    private static let body =
        "--b\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--b\r\n\r\n"
        + String(repeating: "0123456789", count: 50_000)
        + "\r\n--b\r\nContent-Range: bytes 3-5/9\r\n\r\nxyz\r\n--b--\r\n"

    private let session = Session()

    private func server() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/mixed") { _ in .content("multipart/mixed; boundary=b", Data(Self.body.utf8)) }
        server.route("/cut") { _ in .content("multipart/mixed; boundary=b", Data(Self.body.utf8.dropLast(10))) }
        server.route("/text") { _ in .text("hello") }
        server.route("/form") { request in
            let parts = try request.parts.map { part in
                "\(part.header.name ?? "-")|\(part.header.fileName ?? "-")|\(part.header.mediaType)|\(part.body.count)"
            }
            return .text(parts.joined(separator: "\n"))
        }
        return server
    }

    @Test func responsesAreReadInParts() async throws {
        let server = try await server()
        var bodies: [Data] = []
        var header: MultipartHeader?
        for try await part in session.streamRequest(server.url("/mixed")).validate().parts() {
            bodies.append(try await part.data(upTo: 1 << 20))
            header = part.header
        }
        #expect(bodies.map(\.count) == [7, 500_000, 3])
        #expect(bodies.first == Data("{\"a\":1}".utf8) && bodies.last == Data("xyz".utf8))
        #expect(header?.contentRange == 3...5)
        await server.stop()
    }

    @Test func unreadBodiesAreSkipped() async throws {
        let server = try await server()
        var count = 0
        var last: Data?
        for try await part in session.streamRequest(server.url("/mixed")).parts() {
            count += 1
            if count == 2 {
                let chunks = part.body.makeAsyncIterator()
                #expect(try await chunks.next() != nil)
            }
            if count == 3 { last = try await part.data(upTo: 3) }
        }
        #expect(count == 3 && last == Data("xyz".utf8))
        await server.stop()
    }

    @Test func errorsAreThrown() async throws {
        let server = try await server()
        func read(_ path: String, limit: Int = 1 << 20, _ limits: MultipartLimits = MultipartLimits()) async throws {
            for try await part in session.streamRequest(server.url(path)).validate().parts(limits: limits) {
                _ = try await part.data(upTo: limit)
            }
        }
        await #expect(throws: MultipartError(kind: .incomplete, part: 3)) { try await read("/cut") }
        await #expect(throws: MultipartError(kind: .invalidContentType, part: 0)) { try await read("/text") }
        await #expect(throws: MultipartError(kind: .partTooLarge, part: 2)) { try await read("/mixed", limit: 10) }
        await #expect(throws: AFError.self) { try await read("/status/404") }
        var limits = MultipartLimits()
        limits.maximumPartSize = 1_000
        await #expect(throws: MultipartError(kind: .partTooLarge, part: 2)) { try await read("/mixed", limits) }
        await server.stop()
    }

    @Test func aCanceledLoopThrowsACancellation() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n"
        let server = try await RawServer.start([.receiveHead, .send(head), .waitForever])
        let (parts, found) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [session] in
            for try await part in session.streamRequest(server.url).parts() {
                found.finish()
                _ = try await part.data(upTo: 10)
            }
        }
        for await _ in parts {}
        task.cancel()
        let error = await #expect(throws: AFError.self) { try await task.value }
        #expect(error?.isExplicitlyCancelledError == true)
    }

    @Test func serversReadForms() async throws {
        let server = try await server()
        let text = try await session.upload(
            multipartFormData: { form in
                form.append(Data("Ada".utf8), withName: "name")
                form.append(Data(count: 100_000), withName: "file", fileName: "a \"b\".bin", mimeType: "image/png")
            }, to: server.url("/form")
        ).validate().serializingString().value
        #expect(text == "name|-|text/plain|3\nfile|a \"b\".bin|image/png|100000")
        let error = await session.upload(Data("x".utf8), to: server.url("/form")).validate()
            .serializingString().response.error
        #expect(error?.responseCode == 500)
        await server.stop()
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b\r\n"
    private static let twoParts = "--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n"

    private func bodies(_ request: DataStreamRequest) async throws -> [String] {
        var bodies: [String] = []
        for try await part in request.parts() {
            bodies.append(String(decoding: try await part.data(upTo: 10), as: UTF8.self))
        }
        return bodies
    }

    /// The loop ends at the last delimiter, and the request is canceled if the response doesn't end.
    @Test(arguments: [false, true])
    func anEndlessEpilogueIsNotAwaited(isSilent: Bool) async throws {
        let rest: RawServer.Step = isSilent ? .waitForever : .loop([.send(String(repeating: "x", count: 1_000))])
        let server = try await RawServer.start([
            .receiveHead, .send(Self.head + "\r\n" + Self.twoParts + "--b--"), rest,
        ])
        let session = Session()
        let request = session.streamRequest(server.url)
        #expect(try await bodies(request) == ["one", "two"])
        try await server.peerClosed(0)
        await server.stop()
    }

    /// The rest of a response that ends soon is read, so the connection can be used again.
    @Test func theRestOfAResponseIsRead() async throws {
        let gate = RawServer.Gate()
        let body = Self.twoParts + "--b--"
        let server = try await RawServer.start([
            .receiveHead, .send(Self.head + "Content-Length: \(body.utf8.count + 2)\r\n\r\n" + body), .hold(gate),
            .send("\r\n"),
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        ])
        let session = Session()
        let request = session.streamRequest(server.url)
        let (completions, continuation) = AsyncStream<AFError?>.makeStream()
        request.responseStream { stream in
            if case .complete(let completion) = stream.event { continuation.yield(completion.error) }
        }
        #expect(try await bodies(request) == ["one", "two"])
        gate.open()
        var iterator = completions.makeAsyncIterator()
        #expect(try await #require(iterator.next()) == nil)
        #expect(try await session.request(server.url).serializingString().value == "hello")
        #expect(server.connectionCount == 1)
        await server.stop()
    }

    /// An error in a chunk doesn't take the parts before it.
    @Test func thePartsBeforeAnErrorAreDelivered() async throws {
        let server = try await RawServer.start([
            .receiveHead, .send(Self.head + "\r\n" + Self.twoParts + "--b\r\nno field\r\n\r\n"), .waitForever,
        ])
        var bodies: [String] = []
        let request = session.streamRequest(server.url)
        await #expect(throws: MultipartError(kind: .invalidHeader, part: 3)) {
            for try await part in request.parts() {
                bodies.append(String(decoding: try await part.data(upTo: 10), as: UTF8.self))
            }
        }
        #expect(bodies == ["one", "two"])
        try await server.peerClosed(0)
        await server.stop()
    }
}
