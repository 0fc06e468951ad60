import Afar
import AfarResumableUploads
import AfarTransport
import Foundation
import Testing

/// Uploads with the Internet-Draft, in all supported interop versions.
@Suite(.timeLimit(.minutes(2))) struct DraftTests {
    @Test(arguments: ResumableUploadProtocol.DraftVersion.allCases)
    func theUploadIsCreatedWithTheFile(_ version: ResumableUploadProtocol.DraftVersion) async throws {
        let (server, folder) = (try UploadServer(), try TestFolder())
        defer { server.stop() }
        let (file, data) = try folder.file(300_000)
        let upload = skippingSession().uploadResumable(
            file, to: server.url(), protocol: .draft(version), headers: ["Content-Type": "text/plain"])
        let value = try await upload.value
        #expect(value.data == Data("stored".utf8))
        #expect(value.url == server.url("/files/1"))
        #expect(server.content == data)
        #expect(server.log == ["POST /files"])
        #expect(server.requests[0]["Content-Type"] == "text/plain")
        #expect(server.requests[0]["Upload-Complete"] == (version >= .v5 ? "?1" : nil))
        #expect(server.requests[0]["Upload-Incomplete"] == (version >= .v5 ? nil : "?0"))
    }

    @Test(arguments: ResumableUploadProtocol.DraftVersion.allCases)
    func aLostConnectionContinuesAtTheServersOffset(_ version: ResumableUploadProtocol.DraftVersion) async throws {
        let server = try UploadServer { $0.cuts = [100_000, 250_000] }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(500_000)
        let value = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .draft(version)).value
        #expect(value.data == Data("stored".utf8))
        #expect(server.content == data)
        #expect(
            server.log == ["POST /files", "HEAD /files/1", "PATCH /files/1", "HEAD /files/1", "PATCH /files/1"])
    }

    #if os(Linux)
        @Test func libcurlResumesUploadsToo() async throws {
            let server = try UploadServer { $0.cuts = [100_000, 250_000] }
            let folder = try TestFolder()
            defer { server.stop() }
            let (file, data) = try folder.file(500_000)
            var configuration = SessionConfiguration.default
            configuration.timeSource = TimeSource(clock: SkippingClock()) { Date() }
            let session = Session(configuration: configuration, transport: CurlTransport())
            for uploadProtocol in [ResumableUploadProtocol.draft(.latest), .tus] {
                server.state.withLock { state in
                    (state.uploads, state.receivedBytes, state.cuts) = ([:], 0, [100_000, 250_000])
                }
                _ = try await session.uploadResumable(file, to: server.url(), protocol: uploadProtocol).value
                #expect(server.content == data)
            }
            #expect(server.log.filter { $0.hasPrefix("HEAD") }.count == 4)
        }
    #endif

    @Test func withoutA104ResponseALostConnectionIsFinal() async throws {
        let server = try UploadServer {
            $0.cuts = [100_000]
            $0.sends104 = false
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(500_000)
        let error = await skippingSession().uploadResumable(file, to: server.url(), protocol: .draft(.latest)).result
            .uploadError
        guard case .notResumable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.log == ["POST /files"])
    }

    @Test(arguments: [0, 300_000]) func anUploadCanBeCreatedBeforeSending(_ count: Int) async throws {
        let server = try UploadServer {
            $0.cuts = count > 0 ? [100_000] : []
            $0.sends104 = false
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(count)
        var options = ResumableUploadOptions()
        options.createsBeforeSending = true
        let value = try await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .draft(.latest), options: options
        ).value
        #expect(value.data == Data("stored".utf8))
        #expect(server.content == data)
        #expect(server.requests[0]["Upload-Complete"] == "?0")
    }

    @Test func theServersLimitOfAppendsIsObserved() async throws {
        let server = try UploadServer { $0.maximumAppendSize = 100_000 }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, data) = try folder.file(250_000)
        var options = ResumableUploadOptions()
        options.createsBeforeSending = true
        _ = try await skippingSession().uploadResumable(
            file, to: server.url(), protocol: .draft(.latest), options: options
        ).value
        #expect(server.content == data)
        let lengths = server.requests.filter { $0.method == "PATCH" }.compactMap { $0["Content-Length"] }
        #expect(lengths == ["100000", "100000", "50000"])
    }

    @Test func aSequenceIsSentInPieces() async throws {
        let server = try UploadServer { $0.cuts = [120_000] }
        let folder = try TestFolder()
        defer { server.stop() }
        let (_, data) = try folder.file(250_000)
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data(data.prefix(170_000)))
            continuation.yield(Data(data.dropFirst(170_000)))
            continuation.finish()
        }
        var options = ResumableUploadOptions()
        options.chunkSize = 100_000
        _ = try await skippingSession().uploadResumable(
            chunks, to: server.url(), protocol: .draft(.latest), options: options
        ).value
        #expect(server.content == data)
        #expect(server.requests.last { $0.method == "PATCH" }?["Upload-Complete"] == "?1")
    }

    @Test func aLostFinalResponseIsFoundOut() async throws {
        let folder = try TestFolder()
        let (file, data) = try folder.file(100_000)
        let server = try UploadServer { $0.cuts = [100_000] }
        defer { server.stop() }
        // The server has the whole file, but the connection ended before its response.
        server.state.withLock { state in
            state.answer = { request, _ in
                guard request.method == "HEAD" else { return nil }
                return .send(
                    "HTTP/1.1 204 No Content\r\nUpload-Complete: ?1\r\nUpload-Offset: 100000\r\n\r\n", closes: false)
            }
        }
        let value = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .draft(.v8)).value
        #expect(value.response.statusCode == 204)
        #expect(server.content == data)
        #expect(server.log == ["POST /files", "HEAD /files/1"])
    }

    @Test func aServerCanReportItsProgressOften() async throws {
        let progress = (1...1_000).map {
            "HTTP/1.1 104 X\r\nUpload-Draft-Interop-Version: 8\r\nUpload-Offset: \($0)\r\n\r\n"
        }
        let server = try UploadServer { state in
            state.answer = { _, _ in
                .send(progress.joined() + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: false)
            }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        let value = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .draft(.latest)).value
        #expect(value.data == Data("ok".utf8))
    }

    @Test func aServerWithoutTheProtocolReceivesTheFile() async throws {
        let server = try UploadServer { state in
            state.answer = { _, _ in .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: false) }
        }
        let folder = try TestFolder()
        defer { server.stop() }
        let (file, _) = try folder.file(1_000)
        let value = try await skippingSession().uploadResumable(file, to: server.url(), protocol: .draft(.latest)).value
        #expect(value.data == Data("ok".utf8))
        #expect(value.url == nil)
    }
}
