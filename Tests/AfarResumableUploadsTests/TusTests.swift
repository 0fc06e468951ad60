import Afar
import AfarResumableUploads
import AfarTransport
import Foundation
import Testing

/// Uploads with tus 1.0 to a server that cuts connections.
@Suite(.timeLimit(.minutes(2))) struct TusTests {
    @Test func aFileIsCreatedAndSent() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(300_000)
        let upload = skippingSession().uploadResumable(file, to: server.url(), protocol: .tus)
        let value = try await upload.value
        #expect(value.url == server.url("/files/1"))
        #expect(value.response.statusCode == 204)
        #expect(server.content == data)
        #expect(server.log == ["POST /files", "PATCH /files/1"])
        #expect(upload.uploadProgress.completedUnitCount == 300_000)
        #expect(upload.uploadProgress.totalUnitCount == 300_000)
    }

    @Test func anEmptyFileIsCompleteAfterItsCreation() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, _) = try folder.file(0)
        _ = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .tus).value
        #expect(server.log == ["POST /files"])
    }

    @Test func aLostConnectionContinuesAtTheServersOffset() async throws {
        let server = try UploadServer { $0.cuts = [100_000, 250_000, 250_001] }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(500_000)
        let clock = SkippingClock()
        let upload = skippingSession(clock).uploadResumable(file, to: server.url(), protocol: .tus)
        _ = try await upload.value
        #expect(server.content == data)
        #expect(
            server.log == ["POST /files", "PATCH /files/1"]
                + Array(repeating: ["HEAD /files/1", "PATCH /files/1"], count: 3).flatMap { $0 })
        let offsets = server.requests.filter { $0.method == "PATCH" }.compactMap { $0["Upload-Offset"] }
        #expect(offsets == ["0", "100000", "250000", "250001"])
        // Each interruption follows progress, so all delays are the first one.
        #expect(clock.delays.count == 3)
        #expect(clock.delays.allSatisfy { (.milliseconds(375)...(.milliseconds(500))).contains($0) })
    }

    @Test func lostBytesAreSentAgain() async throws {
        let server = try UploadServer { $0.cuts = [100_000] }
        let folder = try TestFolder()
        defer { server.stop() }
        // The server loses half of the bytes before the first request for the offset.
        server.state.withLock { state in
            state.answer = { [state = server.state] request, _ in
                if request.method == "HEAD" { state.withLock { $0.uploads["/files/1"]?.offset = 50_000 } }
                return nil
            }
        }
        let (file, data) = try folder.file(300_000)
        let upload = skippingSession().uploadResumable(file, to: server.url(), protocol: .tus)
        _ = try await upload.value
        #expect(server.content == data)
        #expect(server.requests.last?["Upload-Offset"] == "50000")
        #expect(upload.uploadProgress.completedUnitCount == 300_000)
    }

    @Test func delaysIncreaseWithoutProgress() async throws {
        let server = try UploadServer { $0.answer = { request, _ in request.method == "POST" ? nil : .close } }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        let clock = SkippingClock()
        let error = await skippingSession(clock).uploadResumable(file, to: server.url(), protocol: .tus).result
            .uploadError
        guard case .noProgress(attempts: 8, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(clock.delays.count == 7)
        for (index, delay) in clock.delays.enumerated() {
            let maximum = Duration.milliseconds(500) * (1 << index)
            #expect(delay <= maximum && delay >= maximum * 0.74)
        }
    }

    @Test func chunksLimitTheSizeOfRequests() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(250_000)
        var options = ResumableUploadOptions()
        options.chunkSize = 100_000
        _ = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .tus, options: options).value
        #expect(server.content == data)
        let lengths = server.requests.filter { $0.method == "PATCH" }.compactMap { $0["Content-Length"] }
        #expect(lengths == ["100000", "100000", "50000"])
    }

    @Test func metadataAndMethodOverrideAreSent() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(10)
        var options = ResumableUploadOptions()
        options.metadata = ["filename": "a b.txt", "empty": ""]
        options.overridesMethods = true
        _ = try await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .tus, headers: ["Authorization": "Bearer secret"], options: options
        ).value
        #expect(server.content == data)
        #expect(server.requests[0]["Upload-Metadata"] == "empty,filename YSBiLnR4dA==")
        #expect(server.requests[1]["X-HTTP-Method-Override"] == "PATCH")
        #expect(server.requests.allSatisfy { $0["Authorization"] == "Bearer secret" })
    }

    @Test func checksumsAreSHA1() async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let file = folder.url.appending(path: "abc")
        try Data("abc".utf8).write(to: file)
        var options = ResumableUploadOptions()
        options.sendsChecksums = true
        _ = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .tus, options: options).value
        // FIPS 180-4: the hash of "abc" is a9993e36 4706816a ba3e2571 7850c26c 9cd0d89d.
        #expect(server.requests[1]["Upload-Checksum"] == "sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
    }

    @Test func aChecksumMismatchSendsTheBytesAgain() async throws {
        let server = try UploadServer { state in
            state.answer = { request, number in
                request.method == "PATCH" && number == 2
                    ? .send("HTTP/1.1 460 Checksum Mismatch\r\nContent-Length: 0\r\n\r\n", closes: false) : nil
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(100_000)
        var options = ResumableUploadOptions()
        options.sendsChecksums = true
        _ = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .tus, options: options).value
        #expect(server.content == data)
    }

    @Test func parallelPartsAreJoined() async throws {
        let server = try UploadServer { $0.cuts = [150_000, 320_000] }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(500_001)
        var options = ResumableUploadOptions()
        options.parallelParts = 3
        options.metadata = ["filename": "x"]
        let upload = skippingSession().uploadResumable(file, to: server.url(), protocol: .tus, options: options)
        let value = try await upload.value
        #expect(server.content == data)
        #expect(value.url == server.url("/files/4"))
        #expect(upload.uploadProgress.completedUnitCount == 500_001)
        let posts = server.requests.filter { $0.method == "POST" }
        #expect(posts.prefix(3).allSatisfy { $0["Upload-Concat"] == "partial" && $0["Upload-Metadata"] == nil })
        #expect(posts.last?["Upload-Metadata"] == "filename eA==")
    }

    @Test(arguments: [0, 1, 99_999, 100_000, 250_000]) func aSequenceHasADeferredLength(_ count: Int) async throws {
        let server = try UploadServer { $0.cuts = count > 60_000 ? [60_000] : [] }
        let folder = try TestFolder()
        defer { server.stop() }
        let (_, data) = try folder.file(count)
        let chunks = AsyncStream<Data> { continuation in
            var rest = data
            while !rest.isEmpty {
                continuation.yield(Data(rest.prefix(33_333)))
                rest = Data(rest.dropFirst(33_333))
            }
            continuation.finish()
        }
        var options = ResumableUploadOptions()
        options.chunkSize = 100_000
        let upload = skippingSession().uploadResumable(chunks, to: server.url(), protocol: .tus, options: options)
        _ = try await upload.value
        #expect(server.content == data)
        #expect(server.requests[0]["Upload-Defer-Length"] == "1")
        #expect(server.requests.last { $0.method == "PATCH" }?["Upload-Length"] == String(count))
        #expect(upload.uploadProgress.totalUnitCount == Int64(count))
    }

    /// A session's validation doesn't apply, because the upload handles each status.
    @Test(arguments: [false, true]) func aMissingUploadIsStartedOverOnce(validates: Bool) async throws {
        let server = try UploadServer { state in
            state.cuts = [50_000]
            state.answer = { request, number in
                number == 3 ? .send("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", closes: false) : nil
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(100_000)
        let session = skippingSession(validation: validates ? .standard : nil)
        let value = try await session.uploadResumable(file, to: server.url(), protocol: .tus).value
        #expect(value.url == server.url("/files/2"))
        let stored = server.state.withLock { $0.uploads["/files/2"]?.file }
        #expect(try stored.map { try Data(contentsOf: $0) } == data)
    }

    @Test func aSecondMissingUploadIsAnError() async throws {
        let server = try UploadServer { state in
            state.answer = { request, _ in
                request.method == "POST"
                    ? nil : .send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", closes: false)
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(100)
        let error = await skippingSession().uploadResumable(file, to: server.url(), protocol: .tus).result.uploadError
        guard case .uploadGone(status: 404) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.log == ["POST /files", "PATCH /files/1", "POST /files", "PATCH /files/2"])
    }

    @Test func cancelingCanDeleteTheUpload() async throws {
        let started = AsyncStream<Void>.makeStream()
        let server = try UploadServer { state in
            state.answer = { request, number in
                guard request.method == "PATCH" else { return nil }
                started.continuation.yield()
                return .send("HTTP/1.1 503 Unavailable\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n", closes: false)
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(100)
        let upload = Session().uploadResumable(
            file, to: server.url(), protocol: .tus, options: ResumableUploadOptions(record: folder.record)
        ).resume()
        for await _ in started.stream { break }
        upload.cancel(deletingPartialUpload: true)
        #expect(await upload.result.requestError?.isExplicitlyCancelledError == true)
        #expect(server.log.last == "DELETE /files/1")
        #expect(server.state.withLock { $0.uploads.isEmpty })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file-1"])
    }

    @Test func theExpirationDateIsAvailable() async throws {
        let server = try UploadServer { $0.expires = "Wed, 25 Jun 2036 16:00:00 GMT" }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(100)
        let upload = skippingSession().uploadResumable(file, to: server.url(), protocol: .tus)
        _ = try await upload.value
        #expect(upload.expirationDate == Date(timeIntervalSince1970: 2_098_022_400))
    }
}
