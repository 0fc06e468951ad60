import Afar
import AfarEgress
import AfarTestServer
import AfarTesting
import AfarTransport
import Foundation
import TestServers
import Testing

/// Sessions with an egress policy, on the loopback interface.
@Suite(.timeLimit(.minutes(2))) struct SessionTests {
    private func session(
        _ policy: EgressPolicy, over transport: TestedTransport, interceptor: (any RequestInterceptor)? = nil,
        _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) -> Session {
        var configuration = SessionConfiguration.default
        configuration.connectionPolicy = policy
        change(&configuration)
        return Session(
            configuration: configuration, interceptor: interceptor,
            transport: transport == .curl ? CurlTransport() : HTTPTransport())
    }

    @Test(arguments: TestedTransport.allCases)
    func aRefusalNamesTheHostAndTheAddress(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let session = session(EgressPolicy(), over: transport)
        let response = await session.request("http://localhost:\(port)/get").serializingString().response
        let error = try #require(response.error?.transportError)
        #expect(error.code == .refusedByPolicy && server.connectionCount == 0)
        let text = try #require(response.error?.localizedDescription)
        #expect(text.contains("localhost (") && text.contains("loopback address"))
        #expect(error.peer == "127.0.0.1:\(port)" || error.peer == "[::1]:\(port)")
    }

    @Test(arguments: TestedTransport.allCases)
    func aRuleAllowsAnAddress(over transport: TestedTransport) async throws {
        let (first, second) = (try await TestServer.start(), try await TestServer.start())
        let port = try #require(first.url.port)
        let policy = EgressPolicy(allowing: [try EgressRule(ports: [port], networks: ["127.0.0.1"])])
        let session = session(policy, over: transport)
        let target = second.url("/get").absoluteString
        #expect(await session.request(first.url("/get")).serializingString().response.response?.statusCode == 200)
        let response = await session.request(first.url("/redirect-to?url=\(target)")).serializingString().response
        #expect(response.error?.transportError?.code == .refusedByPolicy)
        #expect(response.error?.transportError?.url == target && second.connectionCount == 0)
    }

    @Test(arguments: TestedTransport.allCases)
    func aReportedConnectionIsOpened(over transport: TestedTransport) async throws {
        let server = try await TestServer.start()
        let (reports, continuation) = AsyncStream.makeStream(of: EgressRefusal.self)
        let blocker = DispatchSemaphore(value: 0)
        let policy = EgressPolicy(mode: .report) { refusal in
            continuation.yield(refusal)
            // The transport's thread doesn't wait for the closure.
            blocker.wait()
        }
        let session = session(policy, over: transport)
        #expect(await session.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
        var iterator = reports.makeAsyncIterator()
        #expect(await iterator.next()?.reason.contains("loopback") == true)
        #expect(await session.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
        blocker.signal()
    }

    @Test(arguments: TestedTransport.allCases)
    func aRefusedRequestIsNotRetried(over transport: TestedTransport) async throws {
        let policy = RetryPolicy(
            exponentialBackoffScale: 0,
            retryableURLErrorCodes: RetryPolicy.defaultRetryableURLErrorCodes.union([.resourceUnavailable]))
        let session = session(EgressPolicy(), over: transport, interceptor: policy)
        let request = session.request("http://127.0.0.1:1/")
        #expect(await request.serializingString().response.error?.transportError?.code == .refusedByPolicy)
        #expect(request.retryCount == 0)
    }

    @Test(arguments: TestedTransport.allCases)
    func aProxyIsUsedOnlyIfItIsListed(over transport: TestedTransport) async throws {
        let server = try await RawServer.start([.loop([.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")])])
        var network = NetworkSettings()
        network.proxies = .init(try Proxy("http://127.0.0.1:\(server.port)"))
        let settings = network
        let closed = session(EgressPolicy(), over: transport) { $0.network = settings }
        let response = await closed.request("http://a.example/").serializingString().response
        #expect(response.error?.transportError?.code == .refusedByPolicy && server.connectionCount == 0)
        let rule = try EgressRule(host: "127.0.0.1", ports: [Int(server.port)])
        let policy = EgressPolicy(denying: [try EgressRule(host: "b.example")], proxies: [rule])
        let open = session(policy, over: transport) { $0.network = settings }
        #expect(try await open.request("http://a.example/").serializingString().value == "done")
        // The connection to the proxy is kept.
        for url in ["http://b.example/", "http://169.254.169.254/", "http://localhost/"] {
            let response = await open.request(url).serializingString().response
            #expect(response.error?.transportError?.code == .refusedByPolicy, "\(response)")
        }
        #expect(try await open.request("http://c.example/").serializingString().value == "done")
        #expect(server.requests.count == 2)
    }

    /// A transport that can't enforce a policy would connect to any address.
    @Test func otherTransportsRefuseThePolicy() async throws {
        let server = try await TestServer.start()
        var configuration = SessionConfiguration.default
        configuration.connectionPolicy = EgressPolicy(mode: .report)
        let mock = MockTransport { _ in .status(200) }
        let transports: [any Transport] = [
            URLSessionTransport(), mock, FirstCapableTransport([URLSessionTransport(), mock]),
        ]
        for transport in transports {
            let session = Session(configuration: configuration, transport: transport)
            let response = await session.request(server.url("/get")).serializingString().response
            let error = try #require(response.error?.transportError)
            #expect(error.code == .unsupportedByTransport && error.message.contains("connection policies"), "\(error)")
        }
        #expect(server.connectionCount == 0 && mock.requests.isEmpty)
        // The first transport that can enforce it is used.
        let choice = FirstCapableTransport([mock, HTTPTransport()])
        let session = Session(configuration: configuration, transport: choice)
        #expect(await session.request(server.url("/get")).serializingString().response.response?.statusCode == 200)
        #expect(server.connectionCount == 1 && mock.requests.isEmpty)
    }
}
