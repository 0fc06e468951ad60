import Afar
import AfarTestServer
import Foundation
import Testing

/// Uploads and downloads of files and forms.
@Suite struct LibraryTests {
    private func withLibrary(_ body: (TestServer, LibraryClient) async throws -> Void) async throws {
        let server = try await TestServer.start()
        let client = try LibraryClient(base: server.url.absoluteString)
        try await body(server, client)
        try FileManager.default.removeItem(at: client.folder)
        await server.stop()
    }

    @Test func aFormFilledByAClosure() async throws {
        try await withLibrary { server, client in
            let fractions = Notes()
            let result = await withCheckedContinuation { continuation in
                client.sendProfile(
                    name: "Ada", tags: ["a", "b"], photo: Data([1, 2, 3]), parameters: ["id": "7", "age": "36"]
                ) {
                    dispatchPrecondition(condition: .onQueue(.main))
                    fractions.add("\($0)")
                } completion: {
                    continuation.resume(returning: $0)
                }
            }
            let echo = try JSONDecoder().decode(Echo.self, from: Data(result.get().utf8))
            #expect(echo.method == "PUT")
            // The form's own type with its boundary takes precedence.
            let type = try #require(echo.headers["content-type"])
            #expect(type.hasPrefix("multipart/form-data; boundary=alamofire.boundary.") || type.contains("boundary="))
            let body = try #require(server.lastRequest(path: "/anything")?.body)
            let text = String(decoding: body, as: UTF8.self)
            let names = text.components(separatedBy: "name=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
            #expect(names.filter { $0 != "photo.png" } == ["age", "id", "tags[]", "tags[]", "name", "photo"])
            #expect(text.contains("Content-Disposition: form-data; name=\"photo\"; filename=\"photo.png\"\r\n"))
            #expect(text.contains("Content-Type: image/png\r\n\r\n"))
            #expect(fractions.all.last == "1.0")
        }
    }

    @Test func aFormOfFilesAndStreams() async throws {
        try await withLibrary { _, client in
            let file = client.folder.appendingPathComponent("notes.txt")
            try Data("from a file".utf8).write(to: file)
            let echo = try await client.sendFiles([file], note: InputStream(data: Data("note".utf8)), length: 4)
            #expect(echo.headers["content-type"] == "multipart/form-data; boundary=limit")
            let parts = (echo.data ?? "").components(separatedBy: "--limit")
            #expect(parts.count == 6)
            #expect(parts[1].hasSuffix("\r\n\r\nfrom a file\r\n"))
            #expect(parts[1].contains(#"Content-Disposition: form-data; name="file"; filename="notes.txt""#))
            #expect(parts[1].contains("Content-Type: text/plain"))
            #expect(parts[2].contains(#"filename="own name.bin""#) && parts[2].contains("application/x-own"))
            #expect(parts[3].contains("note.txt") && parts[3].hasSuffix("\r\n\r\nnote\r\n"))
            #expect(parts[4] == "\r\nContent-Disposition: form-data; name=\"raw\"\r\n\r\nraw\r\n")
            #expect(parts[5] == "--\r\n")
        }
    }

    @Test func bodiesOfEachKind() async throws {
        try await withLibrary { server, client in
            let data = Data(repeating: 7, count: 50_000)
            let file = client.folder.appendingPathComponent("body")
            try data.write(to: file)
            let sent = await client.send(data, headers: [.contentType("application/x-own")])
            #expect(sent.value?.contains(#""bytes":50000"#) == true)
            #expect(server.lastRequest(path: "/upload")?.method == "PUT")
            #expect(sent.request?.timeoutInterval == 20)
            #expect(await client.send(file).value?.contains(#""bytes":50000"#) == true)
            #expect(server.lastRequest(path: "/upload")?.method == "POST")
            #expect(server.lastRequest(path: "/upload")?.headers["Content-Length"] == "50000")
            #expect(await client.send(InputStream(data: data)).value?.contains(#""bytes":50000"#) == true)
            let missing = await client.send(client.folder.appendingPathComponent("missing"))
            #expect(missing.error != nil && missing.response == nil)
        }
    }

    @Test func aDownloadIsMovedToItsDestination() async throws {
        try await withLibrary { _, client in
            let response = await withCheckedContinuation { continuation in
                client.fetch("/bytes/1000", named: "first") { response in
                    dispatchPrecondition(condition: .onQueue(.main))
                    continuation.resume(returning: response)
                }
            }
            #expect(response.value == client.folder.appendingPathComponent("first"))
            #expect(response.fileURL == response.value)
            let first = try #require(response.fileURL)
            #expect(try Data(contentsOf: first).count == 1000)
            let again = await withCheckedContinuation { continuation in
                client.fetch("/bytes/1000", named: "first") { continuation.resume(returning: $0) }
            }
            guard case let .downloadedFileMoveFailed(error: _, source: _, destination: destination)? = again.error
            else {
                Issue.record("moved over a file: \(again)")
                return
            }
            #expect(destination == client.folder.appendingPathComponent("first"))
            #expect(again.error?.isDownloadedFileMoveError == true && again.error?.destinationURL == destination)
            let over = await withCheckedContinuation { continuation in
                client.fetch("/bytes/10", named: "first", options: .removePreviousFile) {
                    continuation.resume(returning: $0)
                }
            }
            let second = try #require(over.value)
            #expect(try Data(contentsOf: second).count == 10)
            let deep = await withCheckedContinuation { continuation in
                client.fetch("/bytes/10", named: "a/b/c", options: [.createIntermediateDirectories]) {
                    continuation.resume(returning: $0)
                }
            }
            #expect(deep.value?.lastPathComponent == "c")
            #expect(await client.fetchData("/bytes/10").value?.count == 10)
        }
    }

    @Test func aDownloadIsCancelledAndResumed() async throws {
        try await withLibrary { server, client in
            let download = client.session.download(server.url("/range/3000000?stalls=1000000"))
            let started = download.downloadProgress()
            async let response = download.serializingData().response
            for await progress in started where progress.completedUnitCount == 1_000_000 { break }
            let data = await withCheckedContinuation { continuation in
                download.cancel { continuation.resume(returning: $0) }
            }
            let cancelled = await response
            #expect(cancelled.error?.isExplicitlyCancelledError == true)
            #expect(download.resumeData == data && cancelled.resumeData == data)
            #expect(cancelled.response?.statusCode == 200)
            let resumed = await client.resume(try #require(data))
            #expect(resumed.value?.count == 3_000_000)
            #expect(resumed.response?.statusCode == 206)
            #expect(resumed.fileURL?.lastPathComponent == "resumed")
        }
    }
}
