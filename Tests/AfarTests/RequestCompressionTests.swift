import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Compressed request bodies, over each real transport.
///
/// The server returns each body unchanged with the same `Content-Encoding`, so that the transport's decoder
/// decompresses the compressor's output.
@Suite struct RequestCompressionTests {
    static let compressors: [(String, any RequestInterceptor)] = [
        ("deflate", DeflateRequestCompressor()), ("gzip", GzipRequestCompressor()),
    ]

    func mirror() async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/mirror") { request in
            var response = ServerResponse(body: request.body)
            response.headers["Content-Encoding"] = request.headers["Content-Encoding"]
            return response
        }
        return server
    }

    @Test(arguments: TransportKind.allCases, [0, 1, 2])
    func theServerDecodesTheBody(kind: TransportKind, size: Int) async throws {
        let body = [Data(), Data("name=Ada".utf8), PatternBytes.bytes(50_000_000)][size]
        let server = try await mirror()
        let session = kind.session()
        for (name, compressor) in Self.compressors {
            var request = try URLRequest(url: server.url("/mirror"), method: .post)
            request.httpBody = body
            let data = try await session.request(request, interceptor: compressor)
                .serializingData(emptyResponseCodes: [200]).value
            #expect(data == body)
            let received = try #require(server.lastRequest(path: "/mirror"))
            #expect(received.headers["Content-Encoding"] == name)
            #expect(received.headers["Content-Length"] == "\(received.bodyLength)")
            #expect(received.bodyLength != body.count)
            #expect(received.bodyLength < max(body.count / 2, 100))
        }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func encodersAndRetriesAreCompressed(kind: TransportKind) async throws {
        let server = try await mirror()
        let retry = Retry()
        let session = kind.session()
        let request = session.request(
            server.url("/mirror"), method: .post, parameters: ["name": "Ada"], encoder: .json,
            interceptor: retry)
        let object = try await request.validate { _, _, _ in
            retry.hasFailed() ? .success(()) : .failure(URLError(.badServerResponse))
        }.serializingDecodable([String: String].self).value
        #expect(object == ["name": "Ada"])
        #expect(request.retryCount == 1)
        #expect(server.lastRequest(path: "/mirror")?.headers["Content-Encoding"] == "gzip")
        #expect(server.lastRequest(path: "/mirror")?.headers["Content-Type"] == "application/json")
        await server.stop()
    }

    /// Each request is sent twice, however many are refused at the same time.
    @Test(.timeLimit(.minutes(2))) func manyRefusedRequestsAreSentAgainOnce() async throws {
        let server = try await TestServer.start()
        server.route("/refused") { _ in ServerResponse(status: 415) }
        let session = Session(interceptor: .gzipCompressor)
        let count = 2_500
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await session.request(server.url("/refused"), method: .post, parameters: ["a": "b"], encoder: .json)
                        .validate().serializingData().response.response?.statusCode
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == 415 })
        #expect(server.requestCount(path: "/refused") == 2 * count)
        await server.stop()
    }

    /// An interceptor that compresses bodies and retries after the first failure.
    final class Retry: RequestInterceptor {
        private let failures = Locked(0)

        /// Returns whether there has been a failure before.
        func hasFailed() -> Bool {
            failures.withLock { count in
                count += 1
                return count > 1
            }
        }

        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            GzipRequestCompressor().adapt(urlRequest, for: session, completion: completion)
        }

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            completion(.retry)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func uploadsAndRequestsWithoutABodyAreUnchanged(kind: TransportKind) async throws {
        let server = try await mirror()
        let session = kind.session()
        let upload = try await session.upload(
            Data("plain".utf8), to: server.url("/mirror"), interceptor: .deflateCompressor
        ).serializingString().value
        #expect(upload == "plain")
        #expect(server.lastRequest(path: "/mirror")?.headers["Content-Encoding"] == nil)
        _ = await session.request(server.url("/get"), interceptor: .gzipCompressor).serializingData().response
        #expect(server.lastRequest(path: "/get")?.headers["Content-Encoding"] == nil)
        await server.stop()
    }
}
