import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Resuming interrupted downloads from another URL, over each real transport. The file contains the 26 letters.
@Suite(.timeLimit(.minutes(1))) struct DownloadRelocationTests {
    private static let kinds = TransportKind.all(with: [.fileDelivery])
    private static let letters = "abcdefghijklmnopqrstuvwxyz"
    private let directory = ScratchDirectory()

    private var file: URL { directory.url.appending(path: "letters") }

    private static func start(length: Bool = true) -> [RawServer.Step] {
        let framing = length ? "Content-Length: 26\r\n\r\n" : "Transfer-Encoding: chunked\r\n\r\n1a\r\n"
        return [.respond("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\(framing)" + letters.prefix(10)), .close]
    }

    private static func rest(_ headers: String, total: Int = 26) -> String {
        "HTTP/1.1 206 Partial Content\r\n\(headers)Content-Range: bytes 10-25/\(total)\r\nContent-Length: 16\r\n\r\n"
            + letters.dropFirst(10)
    }

    private func interrupt(_ session: Session, _ start: [RawServer.Step] = start()) async throws -> Data {
        let server = try await RawServer.start(start)
        let response = await session.download(server.url).serializingDownloadedFileURL().response
        await server.stop()
        return try #require(response.resumeData)
    }

    @Test(arguments: kinds)
    func theSameFileOfAnotherHostIsContinued(kind: TransportKind) async throws {
        let session = kind.session()
        let data = try await interrupt(session)
        let server = try await RawServer.start([.respond(Self.rest("ETag: \"v1\"\r\n"))])
        let url = server.url.appending(path: "new").appending(queryItems: [.init(name: "signature", value: "2")])
        let response = await session.download(
            resumingWith: data, from: url, to: DownloadRequest.destination(file)
        ).validate().serializingDownloadedFileURL().response
        #expect(response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        let head = try #require(server.requests.first)
        #expect(head.hasPrefix("GET /new?signature=2 HTTP/1.1\r\n"))
        #expect(head.lowercased().contains("\r\nrange: bytes=10-\r\n"))
        #expect(head.lowercased().contains("\r\nif-range: \"v1\"\r\n"))
        await server.stop()
    }

    /// Without the same validator and length, the download starts again.
    @Test(arguments: kinds)
    func anotherFileIsDownloadedFromItsFirstByte(kind: TransportKind) async throws {
        let session = kind.session()
        let other = Self.letters.uppercased()
        let answers = [
            Self.rest(""), Self.rest("ETag: \"v2\"\r\n"), Self.rest("ETag: \"v1\"\r\n", total: 27),
            "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */5\r\nContent-Length: 0\r\n\r\n",
        ]
        for answer in answers {
            let data = try await interrupt(session)
            let whole = "HTTP/1.1 200 OK\r\nETag: \"v3\"\r\nContent-Length: 26\r\n\r\n\(other)"
            let server = try await RawServer.start(scripts: [[.respond(answer), .respond(whole)], [.respond(whole)]])
            let response = await session.download(
                resumingWith: data, from: server.url, to: DownloadRequest.destination(file)
            ).validate().serializingDownloadedFileURL().response
            #expect(response.value == file, "\(answer)")
            #expect(try String(contentsOf: file, encoding: .utf8) == other)
            #expect(server.requests.last?.lowercased().contains("\r\nrange:") == false)
            await server.stop()
        }
    }

    @Test func anUnknownLengthIsNotContinued() async throws {
        let session = TransportKind.platform.session()
        let data = try await interrupt(session, Self.start(length: false))
        let whole = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 26\r\n\r\n\(Self.letters)"
        let server = try await RawServer.start(scripts: [
            [.respond(Self.rest("ETag: \"v1\"\r\n")), .respond(whole)], [.respond(whole)],
        ])
        let request = session.download(resumingWith: data, from: server.url, to: DownloadRequest.destination(file))
        #expect(await request.validate().serializingDownloadedFileURL().response.response?.statusCode == 200)
        await server.stop()
    }

    @Test func anExpiredURLKeepsThePart() async throws {
        let session = TransportKind.platform.session()
        let data = try await interrupt(session)
        let server = try await RawServer.start([.respond("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")])
        let refused = await session.download(resumingWith: data, from: server.url).validate()
            .serializingDownloadedFileURL().response
        #expect(refused.error?.responseCode == 403)
        await server.stop()
        let kept = try #require(refused.resumeData)
        let last = try await RawServer.start([.respond(Self.rest("ETag: \"v1\"\r\n"))])
        let request = session.download(resumingWith: kept, from: last.url, to: DownloadRequest.destination(file))
        #expect(await request.validate().serializingDownloadedFileURL().response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        await last.stop()
    }

    @Test func theNewURLIsInTheNextResumeData() async throws {
        let session = TransportKind.platform.session()
        let data = try await interrupt(session)
        let server = try await RawServer.start(scripts: [
            [
                .respond(
                    "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 10-25/26\r\nContent-Length: 16\r\n\r\nkl"
                ), .close,
            ],
            [
                .respond(
                    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 12-25/26\r\nContent-Length: 14\r\n\r\n"
                        + Self.letters.dropFirst(12))
            ],
        ])
        let interrupted = await session.download(resumingWith: data, from: server.url)
            .serializingDownloadedFileURL().response
        let next = try #require(interrupted.resumeData)
        let request = session.download(resumingWith: next, to: DownloadRequest.destination(file))
        #expect(await request.validate().serializingDownloadedFileURL().response.value == file)
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.letters)
        await server.stop()
    }
}
