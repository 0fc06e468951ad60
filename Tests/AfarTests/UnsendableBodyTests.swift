import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Errors for bodies that can't be sent.
@Suite(.timeLimit(.minutes(1))) struct UnsendableBodyTests {
    private static let noFile = URL(filePath: "/no/such/file")

    @Test func aMissingFilesErrorDoesNotNameAnEarlierServer() async throws {
        let server = try await TestServer.start()
        let other = try await TestServer.start()
        let session = TransportKind.platform.session()
        _ = try await session.request(other.url("/get")).serializingData().value
        await other.stop()
        let response = await session.upload(Self.noFile, to: server.url("/upload")).serializingData().response
        let error = try #require(response.error)
        let cause = error.transportError
        #expect(cause?.code == .requestBodyFailed)
        #expect(cause?.peer == nil)
        #expect(server.connectionCount == 0)
        await server.stop()
    }

    @Test(arguments: UploadRequestTests.streamingKinds)
    func anInputStreamIsSentOnceAndReportsIt(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let stream = InputStream(data: Data("once".utf8))
        let retried = await session.upload(stream, to: server.url("/status/503"), interceptor: RetryOnce()).validate()
            .serializingData().response
        #expect("\(String(describing: retried.error))".contains("cannot be sent again"))
        let another = await session.upload(stream, to: server.url("/upload")).serializingData().response
        #expect("\(String(describing: another.error))".contains("cannot be sent again"))
        var urlRequest = try URLRequest(url: server.url("/status/503"), method: .post)
        urlRequest.httpBodyStream = InputStream(data: Data("once".utf8))
        let own = await session.request(urlRequest, interceptor: RetryOnce()).validate().serializingData().response
        #expect("\(String(describing: own.error))".contains("cannot be sent again"))
        await server.stop()
    }

    @Test(arguments: UploadRequestTests.streamingKinds)
    func aSequencesErrorDescriptionIsReported(kind: TransportKind) async throws {
        struct Burning: LocalizedError {
            var errorDescription: String? { "the disk is on fire" }
        }
        let server = try await TestServer.start()
        let session = kind.session()
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("abc".utf8))
            continuation.finish(throwing: Burning())
        }
        let response = await session.upload(chunks, to: server.url("/upload")).serializingData().response
        #expect("\(String(describing: response.error))".contains("caused by: the disk is on fire"))
        await server.stop()
    }

    @Test func aFileMustHaveAFileURL() async throws {
        let session = TransportKind.platform.session()
        let url = try #require(URL(string: "https://ada:pass@example.com/file"))
        let error = await session.upload(url, to: "http://127.0.0.1:1/").serializingData().response.error
        guard case .createUploadableFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(String(describing: error))".contains("is not a file URL"))
        #expect(!"\(String(describing: error))".contains("pass"))
    }
}

private struct RetryOnce: RequestInterceptor {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(request.retryCount == 0 ? .retry : .doNotRetry)
    }
}
