import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

struct ResumableUploadTests {
    private let directory: ScratchDirectory
    private var path: String { directory.url.appending(path: "note.txt").path }

    init() throws {
        directory = try ScratchDirectory()
        try directory.write("hello", to: "note.txt")
    }

    @Test(.timeLimit(.minutes(10))) func anInterruptedUploadContinues() async throws {
        let server = try await RawServer.start(scripts: [
            [
                .respond("HTTP/1.1 201 Created\r\nLocation: /files/1\r\nContent-Length: 0\r\n\r\n"), .receiveHead,
                .receive(2),
                .close,
            ],
            [
                .respond("HTTP/1.1 200 OK\r\nUpload-Offset: 2\r\nContent-Length: 0\r\n\r\n"), .receiveHead, .receive(3),
                .send("HTTP/1.1 204 No Content\r\nUpload-Offset: 5\r\n\r\n"),
            ],
        ])
        let result = try await Tool.run(
            "upload", server.url.appending(path: "files").absoluteString, "--file", path, "--resumable", "tus")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text == "\(server.url.absoluteString)files/1\n")
        #expect(server.requests.map { $0.prefix { $0 != "/" } } == ["POST ", "PATCH ", "HEAD ", "PATCH "])
        #expect(server.requests.last?.contains("Upload-Offset: 2\r\n") == true)
        #expect(!FileManager.default.fileExists(atPath: path + ".afar-upload"))
        await server.stop()
    }

    @Test(.timeLimit(.minutes(10))) func theTimeoutLimitsTheWholeUpload() async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 503 Unavailable\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"), .waitForever,
        ])
        let result = try await Tool.run(
            "upload", server.url.absoluteString, "--file", path, "--resumable", "tus", "--timeout", "1")
        #expect(result.status == 5, "\(result.errors)")
        await server.stop()
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ["--part", "a=b", "--resumable", "tus"], ["--file", "-", "--resumable", "tus"],
            ["--file", "/dev/null", "--state", "x"],
            ["--file", "/etc/passwd", "--resumable", "ftp"],
            ["--file", "/etc/passwd", "--resumable", "tus", "--include"],
            ["--file", "/etc/passwd", "--resumable", "tus", "--timing"],
            ["--file", "/etc/passwd", "--resumable", "tus", "--charset", "utf-8"],
            ["--file", "/etc/passwd", "--resumable", "tus", "--method", "PUT"],
            ["--file", "/etc/passwd", "--resumable", "tus", "--curl"],
        ])
    func invalidOptionsAreUsageErrors(arguments: [String]) async throws {
        let result = try await Tool.run(["upload", "127.0.0.1:9/files"] + arguments)
        #expect(result.status == 2, "\(result.errors)")
    }
}
