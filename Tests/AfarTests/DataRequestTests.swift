import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Requests to a real server, over each real transport.
@Suite struct DataRequestTests {
    struct Echo: Decodable, Sendable {
        let method: String
        let path: String
        let query: String?
        let headers: [String: String]
        let data: String?
        let form: [String: String]?
    }

    @Test(arguments: TransportKind.allCases)
    func everyMethodArrives(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        for method in [HTTPMethod.get, .post, .put, .patch, .delete, .options, .query] {
            let echo = try await session.request(server.url("/anything/here"), method: method)
                .validate().serializingDecodable(Echo.self).value
            #expect(echo.method == method.rawValue)
            #expect(echo.path == "/anything/here")
        }
        let head = await session.request(server.url("/anything"), method: .head).validate().serializingData().response
        #expect(head.value == Data())
        #expect(head.response?.statusCode == 200)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func parametersAreEncodedInTheQueryAndTheBody(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let query = try await session.request(server.url("/get"), parameters: ["q": "a b&c", "n": 1])
            .serializingDecodable(Echo.self).value
        #expect(query.query == "n=1&q=a%20b%26c")
        let form = try await session.request(
            server.url("/post"), method: .post, parameters: ["name": "Ada"],
            encoder: URLEncodedFormParameterEncoder.default
        ).serializingDecodable(Echo.self).value
        #expect(form.form == ["name": "Ada"])
        #expect(form.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
        let json = try await session.request(
            server.url("/post"), method: .post, parameters: ["name": "Ada"], encoder: JSONParameterEncoder.default
        ).serializingDecodable(Echo.self).value
        #expect(json.data == #"{"name":"Ada"}"#)
        #expect(json.headers["content-type"] == "application/json")
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theRequestsHeadersOverrideTheSessions(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session { $0.headers.update(name: "X-Session", value: "s") }
        let echo = try await session.request(server.url("/get"), headers: ["X-Own": "o", "User-Agent": "Mine/1"])
            .serializingDecodable(Echo.self).value
        #expect(echo.headers["x-own"] == "o")
        #expect(echo.headers["x-session"] == "s")
        #expect(echo.headers["user-agent"] == "Mine/1")
        #expect(echo.headers["accept-encoding"]?.contains("gzip") == true)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, ["/gzip", "/deflate"])
    func compressedBodiesAreDecoded(kind: TransportKind, path: String) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let object = try await session.request(server.url(path)).serializingJSON().value
        #expect(object is [String: Any])
        await server.stop()
    }

    @Test func rawBodiesAreDeliveredOnDemand() async throws {
        let server = try await TestServer.start()
        let gzip = Data([0x1F, 0x8B])
        let raw = TransportKind.platform.session { $0.decodesContent = false }
        let response = await raw.request(server.url("/gzip")).serializingData().response
        #expect(response.data?.prefix(2) == gzip)
        #expect(response.response?.headers["Content-Encoding"] == "gzip")
        #expect(server.lastRequest(path: "/gzip")?.headers["Accept-Encoding"]?.contains("gzip") == true)
        let decoded = raw.request(server.url("/gzip")).options { $0.decodesContent = true }
        #expect(try await decoded.serializingJSON().value is [String: Any])
        let session = Session()
        let once = session.request(server.url("/gzip")).options { $0.decodesContent = false }
        #expect(try await once.serializingData().value.prefix(2) == gzip)
        await server.stop()
    }

    /// URLSession always decodes bodies, so the transport requests an uncompressed body.
    @Test func rawBodiesOverURLSessionAreNotEncoded() async throws {
        let server = try await TestServer.start()
        let session = TransportKind.urlSession.session { $0.decodesContent = false }
        _ = try await session.request(server.url("/get")).serializingData().value
        #expect(server.lastRequest(path: "/get")?.headers["Accept-Encoding"] == "identity")
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aChallengeIsReturnedUnchanged(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let response = await session.request(server.url("/basic-auth/ada/secret")).serializingData().response
        #expect(response.response?.statusCode == 401)
        let answered =
            await session
            .request(
                server.url("/basic-auth/ada/secret"), headers: [.authorization(username: "ada", password: "secret")]
            ).validate().serializingData().response
        #expect(answered.error == nil)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aLargeBodyArrivesCompletely(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let data = try await session.request(server.url("/bytes/3000000?seed=7")).serializingData().value
        #expect(data == PseudoRandomBytes.bytes(3_000_000, seed: 7))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aBodyOverTheLimitFails(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session { $0.maximumResponseBodySize = 1_000 }
        let response = await session.request(server.url("/bytes/1001")).serializingData().response
        #expect(response.error?.transportError?.code == .responseTooLarge)
        let fits = await session.request(server.url("/bytes/1000")).serializingData().response
        #expect(fits.value?.count == 1_000)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func concurrentRequestsAllSucceed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let paths = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await session.request(server.url("/anything/\(number)"))
                        .serializingDecodable(Echo.self).value.path
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(paths.count == 100)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .metrics))
    func connectionsAreReusedAndMeasured(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let first = await session.request(server.url("/get")).serializingData().response
        let second = await session.request(server.url("/get")).serializingData().response
        #expect(server.connectionCount == 1)
        let firstHop = try #require(first.metrics?.transactionMetrics.first)
        let secondHop = try #require(second.metrics?.transactionMetrics.first)
        #expect(!firstHop.isReusedConnection)
        #expect(firstHop.connectEndDate != nil)
        #expect(secondHop.isReusedConnection)
        #expect(secondHop.connectEndDate == nil)
        #expect(secondHop.remotePort == server.url.port)
        #expect(secondHop.countOfResponseBodyBytesReceived == Int64(second.data?.count ?? 0))
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: .suspension))
    func aRequestInFlightIsSuspendedAndResumed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let (isFirst, isSuspended) = (Locked(true), Deferred<Bool>())
        let session = kind.session()
        let request = session.request(server.url("/drip?bytes=20&seconds=1"))
        request.downloadProgress(queue: DispatchQueue(label: "progress")) { [weak request] _ in
            guard isFirst.withLock({ Swift.exchange(&$0, with: false) }), let request else { return }
            request.suspend()
            isSuspended.fulfill(request.isSuspended)
        }
        let task = request.serializingData()
        #expect(await isSuspended.value)
        request.resume()
        #expect(await task.response.value?.count == 20)
        await server.stop()
    }

    @Test(arguments: TransportKind.all(with: [.streamedDelivery]))
    func aClosureReceivesTheBodyInsteadOfTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let bytes = Locked(Data())
        let response = await session.request(server.url("/large/1000000"))
            .stream { chunk in bytes.withLock { $0 += chunk } }
            .serializingResponse(using: DataResponseSerializer(emptyResponseCodes: [200])).response
        #expect(response.error == nil)
        #expect(response.data == nil)
        #expect(bytes.withLock { $0 } == PatternBytes.bytes(1_000_000))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theProgressOfADecodedBodyHasNoTotal(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.request(server.url("/gzip-bomb?bytes=1000000"))
        let progress = request.downloadProgress()
        let length = try await request.serializingData().value.count
        var last: Progress?
        for await progress in progress { last = progress }
        #expect(last?.completedUnitCount == Int64(length))
        #expect(last?.totalUnitCount == -1)
        await server.stop()
    }
}

extension AFError {
    /// The transport's error that the `URLError` contains.
    var transportError: TransportError? {
        (underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
    }
}
