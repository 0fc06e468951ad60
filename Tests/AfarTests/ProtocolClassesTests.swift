import Afar
import AfarCore
import AfarTestServer
import Testing

/// A subclass of `URLProtocol` in a configuration is a common way to mock a server. Such a session must never send a
/// request to the real server.
@Suite(.timeLimit(.minutes(1))) struct ProtocolClassesTests {
    final class Stub: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data("stub".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    struct Passing: RequestAdapter {
        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) { completion(.success(urlRequest)) }
    }

    private func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.af.default
        configuration.protocolClasses = [Stub.self] + (configuration.protocolClasses ?? [])
        return configuration
    }

    private func expectRefusal(_ error: AFError?, sourceLocation: SourceLocation = #_sourceLocation) throws {
        guard case .sessionTaskFailed(let failure as URLError) = error else {
            Issue.record("not the transport's error: \(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        let cause = try #require(failure.userInfo[NSUnderlyingErrorKey] as? TransportError)
        #expect(cause.code == .unsupportedByTransport, sourceLocation: sourceLocation)
        for word in ["protocolClasses", "MockTransport", "URLSessionTransport"] {
            #expect(cause.description.contains(word), sourceLocation: sourceLocation)
        }
    }

    #if canImport(FoundationNetworking)
        @Test func overCurlEachRequestIsRejectedBeforeSending() async throws {
            let server = try await TestServer.start()
            server.route("/") { _ in .text("server") }
            let session = Session(configuration: configuration())
            let url = server.url("/")
            try expectRefusal(await session.request(url).serializingString().response.error)
            let adapted = session.request(url, interceptor: Interceptor(adapters: [Passing()]))
            try expectRefusal(await adapted.serializingString().response.error)
            try expectRefusal(await session.upload(Data("x".utf8), to: url).serializingString().response.error)
            try expectRefusal(await session.download(url).serializingDownloadedFileURL().response.error)
            let stream = session.streamRequest(url)
            for await _ in stream.streamTask().streamingStrings() {}
            try expectRefusal(stream.error)
            #expect(server.requestCount(path: "/") == 0)
            await server.stop()
        }
    #endif

    @Test func overURLSessionProtocolClassesAreUsed() async throws {
        let server = try await TestServer.start()
        server.route("/") { _ in .text("server") }
        for transport in [URLSessionTransport(), URLSessionTransport(configuration: configuration())] {
            let session = Session(configuration: SessionConfiguration(configuration()), transport: transport)
            #expect(await session.request(server.url("/")).serializingString().response.value == "stub")
            let adapted = session.request(
                server.url("/"), method: .post, interceptor: Interceptor(adapters: [Passing()]))
            #expect(await adapted.serializingString().response.value == "stub")
        }
        #expect(server.requestCount(path: "/") == 0)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func foundationsClassesAreNotForeign(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        server.route("/") { _ in .text("server") }
        for configuration in [URLSessionConfiguration.default, .ephemeral, .af.default, .af.ephemeral] {
            let own = SessionConfiguration(configuration)
            let session = Session(configuration: own, transport: kind.make(own))
            #expect(await session.request(server.url("/")).serializingString().response.value == "server")
        }
        let session = Session(configuration: URLSessionConfiguration.default)
        #expect(await session.request(server.url("/")).serializingString().response.value == "server")
        await server.stop()
    }
}
