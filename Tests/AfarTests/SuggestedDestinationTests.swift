import Afar
import AfarTestServer
import Foundation
import Testing

@Suite struct SuggestedDestinationTests {
    private let temporary = URL(fileURLWithPath: "/tmp/afar-x/download")

    private func response(_ url: String, _ disposition: String?) throws -> HTTPURLResponse {
        let fields = disposition.map { ["Content-Disposition": $0] }
        let url = try #require(URL(string: url))
        return try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
    }

    @Test(arguments: [
        ("attachment; filename=a.zip", "a.zip"), ("attachment; filename=\"../../.bashrc\"", "bashrc"),
        (#"attachment; filename="..\\..\\x.dll""#, "x.dll"), ("attachment; filename=..", "last.bin"),
        ("attachment; filename=\"/etc/passwd\"", "passwd"),
        ("attachment; filename=x; filename*=UTF-8''%e2%82%ac%2F..%2Fy", "y"), (nil, "last.bin"),
    ])
    func theServersNameStaysInTheDirectory(disposition: String?, name: String) throws {
        let destination = DownloadRequest.suggestedDownloadDestination(
            for: .cachesDirectory, options: .removePreviousFile)
        let (url, options) = destination(temporary, try response("http://h/a/last.bin?q=/x", disposition))
        let caches = try #require(FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
        #expect(url.deletingLastPathComponent().path == caches.path)
        #expect(url.lastPathComponent == name)
        #expect(options == .removePreviousFile)
    }

    @Test func theDocumentsDirectoryIsTheDefault() throws {
        let (url, options) = DownloadRequest.suggestedDownloadDestination()(temporary, try response("http://h/", nil))
        let documents = try #require(FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first)
        #expect(url.deletingLastPathComponent().path == documents.path)
        #expect(url.lastPathComponent == "download")
        #expect(options == [])
    }

    @Test func aDownloadIsMovedToTheSuggestedDestination() async throws {
        let server = try await TestServer.start()
        let name = "afar-test-\(UUID().uuidString)"
        server.route("/x") { _ in .text("there").adding("Content-Disposition", "attachment; filename=\"../\(name)\"") }
        let destination = DownloadRequest.suggestedDownloadDestination(
            for: .cachesDirectory, options: .createIntermediateDirectories)
        let session = Session()
        let file = try await session.download(server.url("/x"), to: destination).serializingDownloadedFileURL().value
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(file.lastPathComponent == name)
        #expect(try String(contentsOf: file, encoding: .utf8) == "there")
        await server.stop()
    }
}
