import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestSupport
import Testing

/// Options of a request that override those of its session.
@Suite(.timeLimit(.minutes(1))) struct RequestOptionsTests {
    private func code(_ response: DataResponse<String, AFError>) -> URLError.Code? {
        (response.error?.underlyingError as? URLError)?.code
    }

    private func failure(_ response: DataResponse<String, AFError>) throws -> TransportError {
        let error = try #require(response.error?.underlyingError as? URLError)
        return try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
    }

    @Test func aDeadlineEndsARequestAtAnyStage() async throws {
        let server = try await RawServer.start([.receiveHead])
        let session = Session()
        let slow = await session.request(server.url).options { $0.deadline = 0.1 }.serializingString().response
        #expect(code(slow) == .timedOut)
        #expect(slow.error?.localizedDescription.contains("deadline of 0.1 s") == true)
        let late = try failure(slow)
        #expect(late.phase == .awaitingResponse && late.peer == "127.0.0.1:\(server.port)")
        #expect(late.url == server.url.absoluteString)
        try await server.peerClosed(0)
        // The deadline includes the delay before a retry and the time of an adapter.
        let policy = RetryPolicy(retryLimit: 5, exponentialBackoffBase: 100, exponentialBackoffScale: 100)
        let refused = try ClosedPort()
        let retried = await session.request(refused.url, interceptor: policy).options { $0.deadline = 0.1 }
            .serializingString().response
        #expect(code(retried) == .timedOut)
        let adapter = Adapter { _, _, _ in }
        let adapted = await session.request(refused.url, interceptor: Interceptor(adapters: [adapter]))
            .options { $0.deadline = 0.1 }.serializingString().response
        #expect(code(adapted) == .timedOut)
        let early = try failure(adapted)
        #expect(early.phase == .queued && early.url == refused.url.absoluteString + "/")
        let suspended = session.request(server.url).options { $0.deadline = 0.1 }.resume().suspend()
        #expect(code(await suspended.serializingString().response) == .timedOut)
    }

    @Test func aDeadlineCanBeSetLater() async throws {
        let server = try await RawServer.start([.receiveHead])
        let session = Session()
        let request = session.request(server.url)
        let task = request.serializingString()
        request.options { $0.deadline = 1_000 }
        request.options { $0.deadline = 0.1 }
        #expect(code(await task.response) == .timedOut)
        #expect(request.options.deadline == 0.1)
    }

    @Test func aDeadlineThatIsMetChangesNothing() async throws {
        let server = try await TestServer.start()
        let session = Session()
        weak var request: DataRequest?
        do {
            let strong = session.request(server.url("/get")).options { $0.deadline = 1_000 }
            request = strong
            #expect(await strong.serializingString().response.response?.statusCode == 200)
        }
        try await waitWhile { request != nil }
    }

    @Test func timeoutsCanBeSetPerRequest() async throws {
        let server = try await RawServer.start([.receiveHead])
        let session = Session()
        let idle = await session.request(server.url).options { $0.idleTimeout = 0.1 }.serializingString().response
        #expect(idle.error?.localizedDescription.contains("0.1") == true && code(idle) == .timedOut)
        let total = await session.request(server.url).options { $0.totalTimeout = 0.1 }.serializingString().response
        #expect(code(total) == .timedOut)
        let unaccepting = try UnacceptingPort()
        let connect = await session.request(unaccepting.url).options { $0.connectTimeout = 0.1 }.serializingString()
            .response
        #expect(code(connect) == .timedOut)
    }

    @Test func networkSettingsCanBeSetPerRequest() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let response = await session.request(server.url("/get")).options { options in
            options.network = .init()
            options.network?.localAddress = "127.0.0.9"
        }.serializingString().response
        #expect(response.metrics?.transactionMetrics.last?.localAddress == "127.0.0.9")
        let other = await session.request(server.url("/get")).serializingString().response
        #expect(other.metrics?.transactionMetrics.last?.localAddress == "127.0.0.1")
    }

    @Test func aCacheDistinguishesServers() async throws {
        let answers = ["one", "two"]
        var configuration = SessionConfiguration.default
        configuration.cacheStore = MemoryCacheStore()
        let session = Session(configuration: configuration)
        for answer in answers {
            let server = try await RawServer.start([
                .receiveHead,
                .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 3\r\n\r\n\(answer)"),
            ])
            let response = await session.request("http://named.example/").options { options in
                options.network = .init()
                options.network?.connectTo = ["named.example:80": "127.0.0.1:\(server.port)"]
            }.serializingString().response
            #expect(response.value == answer)
        }
    }

    @Test func unsetOptionsAreNil() {
        var options = RequestOptions()
        #expect(options.decompressionLimit == nil && options.protocolClasses == nil && options.idleTimeout == nil)
        options.decompressionLimit = options.decompressionLimit
        #expect(options.decompressionLimit == nil)
        options.decompressionLimit = .some(nil)
        options.idleTimeout = 5
        #expect(options.decompressionLimit == .some(nil) && options.idleTimeout == 5)
        options.idleTimeout = nil
        #expect(options.idleTimeout == nil)
    }

    @Test func theLastOfTwoOverlappingOptionsApplies() async throws {
        let server = try await TestServer.start()
        var network = NetworkSettings()
        network.localAddress = "127.0.0.8"
        let session = Session()
        for _ in 0..<20 {
            let request = session.request(server.url("/get")).options { options in
                options.network = network
                options[dynamicMember: \.network.localAddress] = "127.0.0.9"
            }
            let response = await request.serializingData().response
            #expect(response.metrics?.transactionMetrics.last?.localAddress == "127.0.0.9")
        }
    }

    @Test func everyExchangeOptionIsASessionOption() async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        var configuration = SessionConfiguration.default
        configuration.exchangeOptions.network.connectTo = ["a.example:80": "127.0.0.1:\(port)"]
        configuration.exchangeOptions.maximumFieldCount = 1
        let session = Session(configuration: configuration, transport: HTTPTransport())
        let failure = try failure(await session.request("http://a.example/get").serializingString().response)
        #expect(failure.code == .headTooLarge)
    }
}
