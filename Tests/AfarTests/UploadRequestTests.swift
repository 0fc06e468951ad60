import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Uploads to a real server, over each transport that supports uploads.
@Suite struct UploadRequestTests {
    static let kinds = TransportKind.all(with: [.fileUpload])
    static let streamingKinds = TransportKind.all(with: [.streamedUpload])
    private let directory = ScratchDirectory()

    struct Receipt: Decodable, Sendable {
        let bytes: Int
        let checksum: String
    }

    @Test(arguments: kinds)
    func aFileArrivesCompletely(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(3_000_000)
        let file = directory.url.appendingPathComponent("body")
        try bytes.write(to: file)
        let receipt = try await session.upload(file, to: server.url("/upload")).validate()
            .serializingDecodable(Receipt.self).value
        #expect(receipt.bytes == bytes.count)
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func dataArrivesCompletely(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(200_000)
        let request = try URLRequest(url: server.url("/upload"), method: .put, headers: ["Content-Type": "x/y"])
        let receipt = try await session.upload(bytes, with: request).validate()
            .serializingDecodable(Receipt.self).value
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    @Test(arguments: kinds)
    func progressReachesTheTotal(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = directory.url.appendingPathComponent("body")
        try PatternBytes.bytes(1_000_000).write(to: file)
        let counts = Locked<[Int64]>([])
        let queue = DispatchQueue(label: "progress")
        let request = session.upload(file, to: server.url("/upload")).uploadProgress(queue: queue) { progress in
            counts.withLock { $0.append(progress.completedUnitCount) }
        }
        _ = try await request.serializingDecodable(Receipt.self).value
        queue.sync {}
        let reported = counts.withLock { $0 }
        #expect(reported.last == 1_000_000)
        #expect(reported == reported.sorted())
        #expect(request.uploadProgress.fractionCompleted == 1)
        await server.stop()
    }

    @Test(arguments: kinds)
    func aMissingFileIsNamed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let missing = directory.url.appendingPathComponent("missing")
        let response = await session.upload(missing, to: server.url("/upload")).serializingData().response
        #expect(response.error.map { "\($0)" }?.contains(missing.path) == true)
        await server.stop()
    }

    @Test(arguments: streamingKinds, [true, false])
    func anInputStreamArrivesCompletely(kind: TransportKind, hasLength: Bool) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(3_000_000)
        let headers: HTTPHeaders = hasLength ? ["Content-Length": "\(bytes.count)"] : [:]
        let receipt = try await session.upload(InputStream(data: bytes), to: server.url("/upload"), headers: headers)
            .validate().serializingDecodable(Receipt.self).value
        #expect(receipt.bytes == bytes.count)
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    @Test(arguments: streamingKinds)
    func aStreamInTheURLRequestIsSent(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(100_000)
        var request = try URLRequest(url: server.url("/upload"), method: .post)
        request.httpBodyStream = InputStream(data: bytes)
        let receipt = try await session.request(request).validate().serializingDecodable(Receipt.self).value
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    @Test(arguments: streamingKinds)
    func aStreamThatCannotBeReadFailsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let missing = directory.url.appendingPathComponent("missing")
        let stream = try #require(InputStream(url: missing))
        let error = await session.upload(stream, to: server.url("/upload")).serializingData().response.error
        #expect(error?.isSessionTaskError == true)
        await server.stop()
    }

    @Test(arguments: streamingKinds, [nil, 3_000_000] as [Int64?])
    func aSequenceArrivesCompletely(kind: TransportKind, length: Int64?) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = PatternBytes.bytes(3_000_000)
        let chunks = AsyncStream(Data.self) { continuation in
            for start in stride(from: 0, to: bytes.count, by: 70_000) {
                continuation.yield(bytes[start..<min(start + 70_000, bytes.count)])
            }
            continuation.finish()
        }
        let receipt = try await session.upload(chunks, length: length, to: server.url("/upload"))
            .validate().serializingDecodable(Receipt.self).value
        #expect(receipt.bytes == bytes.count)
        #expect(receipt.checksum == BodyChecksum(bytes).hex)
        await server.stop()
    }

    @Test(arguments: streamingKinds)
    func anErrorOfTheSequenceIsTheRequestsCause(kind: TransportKind) async throws {
        struct StreamError: Error {}
        let server = try await TestServer.start()
        let session = kind.session()
        let chunks = AsyncThrowingStream(Data.self) { continuation in
            continuation.yield(Data("one".utf8))
            continuation.finish(throwing: StreamError())
        }
        let error = await session.upload(chunks, to: server.url("/upload")).serializingData().response.error
        let underlying = (error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
        #expect(underlying?.code == .requestBodyFailed)
        #expect(underlying?.underlying is StreamError)
        await server.stop()
    }

    @Test(arguments: streamingKinds)
    func aStreamIsNotResent(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let stream = InputStream(data: Data("once".utf8))
        let error = await session.upload(stream, to: server.url("/status/503"), interceptor: RetryOnce())
            .validate().serializingData().response.error
        if case .requestRetryFailed(let retryError, let originalError) = error {
            #expect((retryError as? TransportError)?.message.contains("cannot be sent again") == true)
            #expect(originalError.asAFError?.responseCode == 503)
        } else {
            Issue.record(
                "the error lacks the failure or the reason against a retry: \(String(describing: error))")
        }
        await server.stop()
    }

    @Test(arguments: kinds)
    func progressIsCountedForEveryObserver(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let file = directory.url.appendingPathComponent("body")
        try PatternBytes.bytes(100_000).write(to: file)
        let request = session.upload(file, to: server.url("/upload"))
        _ = try await request.serializingDecodable(Receipt.self).value
        #expect(request.uploadProgress.completedUnitCount == 100_000)
        #expect(request.downloadProgress.completedUnitCount > 0)
        await server.stop()
    }

    @Test func aFileIsRemovedOnce() async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let file = directory.url.appendingPathComponent("body")
        try Data("body".utf8).write(to: file)
        let upload = FileUpload(
            file: file, shouldRemove: true, request: try URLRequest(url: server.url("/upload"), method: .post))
        let request = session.upload(upload)
        _ = await request.serializingData().response
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try Data("another".utf8).write(to: file)
        _ = await request.serializingData().response
        #expect(FileManager.default.fileExists(atPath: file.path))
        await server.stop()
    }

    @Test(arguments: [200, 503], [true, false])
    func aFileIsRemovedOnRequest(status: Int, shouldRemove: Bool) async throws {
        let server = try await TestServer.start()
        let session = TransportKind.platform.session()
        let file = directory.url.appendingPathComponent("body")
        try Data("body".utf8).write(to: file)
        let upload = FileUpload(
            file: file, shouldRemove: shouldRemove,
            request: try URLRequest(url: server.url("/status/\(status)"), method: .post))
        let response = await session.upload(upload, interceptor: RetryOnce()).validate().serializingData().response
        #expect(response.response?.statusCode == status)
        #expect(FileManager.default.fileExists(atPath: file.path) == !shouldRemove)
        await server.stop()
    }

    @Test func creationErrorsReachTheHandlers() async throws {
        struct NoBody: Error {}
        struct Broken: UploadConvertible {
            func createUploadable() throws -> UploadRequest.Uploadable { throw NoBody() }
            func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://127.0.0.1:1", method: .post) }
        }
        let session = TransportKind.platform.session()
        let error = await session.upload(Broken()).serializingData().response.error
        #expect(error?.isCreateUploadableError == true)
        #expect(error?.underlyingError is NoBody)
    }
}

private struct FileUpload: UploadConvertible {
    let file: URL
    let shouldRemove: Bool
    let request: URLRequest

    func createUploadable() throws -> UploadRequest.Uploadable { .file(file, shouldRemove: shouldRemove) }
    func asURLRequest() throws -> URLRequest { request }
}

private struct RetryOnce: RequestInterceptor {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error, completion: @escaping (RetryResult) -> Void
    ) {
        completion(request.retryCount == 0 ? .retry : .doNotRetry)
    }
}
