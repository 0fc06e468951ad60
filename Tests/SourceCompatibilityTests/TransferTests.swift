import Afar
import AfarTestServer
import Foundation
import Testing

/// Downloads and uploads, as in code for Alamofire 5.
@Suite struct TransferTests {
    @Test func downloads() async throws {
        let server = try await TestServer.start()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("transfers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let destination: DownloadRequest.Destination = { _, response in
            (
                folder.appendingPathComponent("\(response.statusCode).bin"),
                [.removePreviousFile, .createIntermediateDirectories]
            )
        }
        let path = await withCheckedContinuation { continuation in
            AF.download(server.url("/large/1000"), to: destination)
                .downloadProgress { progress in print(progress.fractionCompleted) }
                .validate(statusCode: 200..<300)
                .response(queue: .global()) { response in
                    continuation.resume(returning: response.error == nil ? response.fileURL?.lastPathComponent : nil)
                }
        }
        #expect(path == "200.bin")
        let url = try await AF.download(
            server.url("/get"), method: .get, parameters: ["a": 1], headers: ["X-A": "b"], to: destination
        ).serializingDownloadedFileURL().value
        #expect(try String(contentsOf: url, encoding: .utf8).contains("a=1"))
        let response = await AF.download(server.url("/status/500"), to: destination).validate()
            .serializingDownload(using: .url).response
        #expect(response.error?.responseCode == 500)
        await server.stop()
    }

    @Test func uploads() async throws {
        let server = try await TestServer.start()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("from a file".utf8).write(to: file)
        let fromFile = try await AF.upload(file, to: server.url("/post"))
            .uploadProgress { progress in print(progress.fractionCompleted) }
            .serializingDecodable(Echo.self).value
        #expect(fromFile.data == "from a file")
        let fromMemory = try await AF.upload(
            Data("from memory".utf8), to: server.url("/put"), method: .put, headers: ["Content-Type": "text/plain"]
        ).validate().serializingDecodable(Echo.self).value
        #expect(fromMemory.data == "from memory")
        #expect(fromMemory.method == "PUT")
        await server.stop()
    }
}
