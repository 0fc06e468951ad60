import Afar
import AfarOAuth
import AfarTestServer
import Foundation
import TestServers
import Testing

/// The interceptor, with a server of authlib.
@Suite(.timeLimit(.minutes(5)))
struct InterceptorTests {
    private struct Resource: Decodable {
        let client: String
        let user: String?
    }

    @Test func clientCredentialsAreRequestedOnceForManyRequests() async throws {
        let server = try await AuthlibServer()
        let resource = try server.url("/resource")
        let interceptor = OAuthInterceptor(
            client: try await server.confidentialClient(), renewal: .clientCredentials(), origins: [resource])
        // The interceptor belongs to the session that requests the tokens, too.
        let session = Session(interceptor: interceptor)
        let clients = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await session.request(resource).validate().serializingDecodable(Resource.self).value.client
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(clients == Array(repeating: "confidential", count: 20))
        let first = interceptor.token
        // The server refuses the token, although it hasn't expired.
        try await server.control("/expire")
        _ = try await session.request(resource).validate().serializingDecodable(Resource.self).value
        #expect(interceptor.token != first)
    }

    @Test func aSessionWithTheInterceptorCanRenewItsToken() async throws {
        let server = try await AuthlibServer()
        let resource = try server.url("/resource")
        let box = Locked<OAuthInterceptor?>(nil)
        let session = Session(
            interceptor: Adapter { request, session, completion in
                guard let interceptor = box.withLock({ $0 }) else { return completion(.success(request)) }
                interceptor.adapt(request, for: session, completion: completion)
            })
        let client = try await server.confidentialClient(session: session)
        let interceptor = OAuthInterceptor(client: client, renewal: .clientCredentials(), origins: [resource])
        box.withLock { $0 = interceptor }
        let value = try await session.request(resource).validate().serializingDecodable(Resource.self).value
        #expect(value.client == "confidential")
        box.withLock { $0 = nil }
    }

    @Test func refusedRequestsShareOneRefresh() async throws {
        let server = try await AuthlibServer()
        let resource = try server.url("/resource")
        let client = try await server.client("public")
        let store = OAuthMemoryTokenStore()
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [resource])
        let token = try await server.userToken(client)
        try await interceptor.signIn(with: token)
        try await server.control("/expire")
        let session = Session(interceptor: interceptor)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let value = try await session.request(resource).validate().serializingDecodable(Resource.self).value
                    #expect(value.user == "ada")
                }
            }
            try await group.waitForAll()
        }
        #expect(try await server.refreshCount() == 1)
        #expect(store.load() == interceptor.token)
        #expect(store.load()?.refreshToken != token.refreshToken)
    }

    @Test func aTokenThatExpiresSoonIsRenewedFirst() async throws {
        let server = try await AuthlibServer()
        let resource = try server.url("/resource")
        let client = try await server.client("public")
        var token = try await server.userToken(client)
        token.expirationDate = Date(timeIntervalSinceNow: 20)
        let interceptor = OAuthInterceptor(client: client, store: OAuthMemoryTokenStore(token), origins: [resource])
        let session = Session(interceptor: interceptor)
        let request = session.request(resource).validate()
        #expect(try await request.serializingDecodable(Resource.self).value.user == "ada")
        #expect(request.retryCount == 0)
        #expect(try await server.refreshCount() == 1)
    }

    @Test func aStoredTokenIsUsedWithoutRenewal() async throws {
        let server = try await AuthlibServer()
        let resource = try server.url("/resource")
        let client = try await server.client("public")
        let store = OAuthMemoryTokenStore(try await server.userToken(client))
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [resource])
        let session = Session(interceptor: interceptor)
        #expect(try await session.request(resource).validate().serializingDecodable(Resource.self).value.user == "ada")
        #expect(try await server.refreshCount() == 0)
    }

    @Test func anInvalidRefreshTokenRequiresSignIn() async throws {
        let server = try await AuthlibServer()
        let resource = try server.url("/resource")
        let client = try await server.client("public")
        let token = try await server.userToken(client)
        try await client.revoke(token)
        let store = OAuthMemoryTokenStore(token)
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [resource])
        let session = Session(interceptor: interceptor)
        let error = await session.request(resource).validate().serializingData().response.error
        guard case .requestRetryFailed(let reason as OAuthError, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.code == .invalidGrant)
        #expect(store.load() == nil)
        // The next request doesn't use the refresh token again.
        _ = await session.request(resource).validate().serializingData().response.error
        #expect(try await server.refreshCount() == 1)
        try await interceptor.signIn(with: server.userToken(client))
        #expect(try await session.request(resource).validate().serializingDecodable(Resource.self).value.user == "ada")
    }

    @Test func onlyTheOriginsReceiveTokens() async throws {
        let other = try await TestServer.start()
        other.route("/redirect") { request in
            ServerResponse(status: 302, headers: ["Location": request.arguments.first?.value ?? ""])
        }
        other.route("/echo") { try .json(["authorization": $0.headers["Authorization"] ?? "none"]) }
        let api = try await TestServer.start()
        api.route("/echo") { try .json(["authorization": $0.headers["Authorization"] ?? "none"]) }
        api.route("/redirect") { request in
            ServerResponse(status: 302, headers: ["Location": request.arguments.first?.value ?? ""])
        }
        let session = Session()
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: api.url("/token")), session: session)
        let store = OAuthMemoryTokenStore(OAuthToken(accessToken: "secret-token"))
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [api.url("/")])
        func authorization(_ url: URL) async throws -> String? {
            try await session.request(url, interceptor: interceptor).serializingDecodable([String: String].self).value[
                "authorization"]
        }
        #expect(try await authorization(api.url("/echo")) == "Bearer secret-token")
        #expect(try await authorization(other.url("/echo")) == "none")
        #expect(try await authorization(api.url("/redirect?to=\(other.url("/echo"))")) == "none")
        #expect(try await authorization(other.url("/redirect?to=\(api.url("/echo"))")) == "none")
        await other.stop()
        await api.stop()
    }

    @Test func webSocketsReceiveTokensAndProofs() async throws {
        let session = Session()
        let endpoint = try #require(URL(string: "https://as.example/token"))
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: endpoint),
            dpop: OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256)),
            session: session)
        let store = OAuthMemoryTokenStore(OAuthToken(accessToken: "b", type: "DPoP"))
        let api = try #require(URL(string: "https://api.example"))
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [api])
        for (text, isKnown) in [("wss://api.example/chat", true), ("ws://api.example/chat", false)] {
            let request = URLRequest(url: try #require(URL(string: text)))
            let adapted = try await withCheckedThrowingContinuation { continuation in
                interceptor.adapt(request, for: session) { continuation.resume(with: $0) }
            }
            #expect(adapted.value(forHTTPHeaderField: "Authorization") == (isKnown ? "DPoP b" : nil))
            #expect((adapted.value(forHTTPHeaderField: "DPoP") != nil) == isKnown)
        }
    }

    @Test func a401OfAnotherServerDoesNotRenewTheToken() async throws {
        let server = try await AuthlibServer()
        let other = try await TestServer.start()
        other.route("/refuse") { _ in
            ServerResponse(status: 401, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
        }
        let api = try await TestServer.start()
        api.route("/redirect") { _ in ServerResponse(status: 302, headers: ["Location": "\(other.url("/refuse"))"]) }
        api.route("/scope") { _ in
            ServerResponse(status: 401, headers: ["WWW-Authenticate": "Bearer error=\"insufficient_scope\""])
        }
        let client = try await server.client("public")
        let store = OAuthMemoryTokenStore(try await server.userToken(client))
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [api.url("/")])
        for url in [other.url("/refuse"), api.url("/redirect"), api.url("/scope")] {
            let request = server.session.request(url, interceptor: interceptor).validate()
            #expect(await request.serializingData().response.response?.statusCode == 401)
            #expect(request.retryCount == 0)
        }
        #expect(try await server.refreshCount() == 0)
        await other.stop()
        await api.stop()
    }

    @Test func cancelingOneRequestDoesNotCancelTheRefresh() async throws {
        let server = try await TestServer.start()
        let (arrived, release) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        server.route("/token") { _ in
            arrived.continuation.yield()
            for await _ in release.stream { break }
            return try .json(["access_token": "new", "token_type": "bearer", "refresh_token": "r2"])
        }
        server.route("/echo") { try .json(["authorization": $0.headers["Authorization"] ?? "none"]) }
        let session = Session()
        let client = OAuthClient(id: "a", server: OAuthServer(tokenEndpoint: server.url("/token")), session: session)
        let old = OAuthToken(accessToken: "old", expirationDate: .distantPast, refreshToken: "r1")
        let interceptor = OAuthInterceptor(
            client: client, store: OAuthMemoryTokenStore(old), origins: [server.url("/")])
        let requests = (0..<5).map { _ in session.request(server.url("/echo"), interceptor: interceptor) }
        let first = requests[0].serializingData()
        async let canceled = first.response
        for await _ in arrived.stream { break }
        let others = requests.dropFirst().map { $0.serializingDecodable([String: String].self) }
        async let values = others.asyncMap { try await $0.value["authorization"] }
        requests[0].cancel()
        #expect(await canceled.error?.isExplicitlyCancelledError == true)
        release.continuation.yield()
        #expect(try await values == Array(repeating: "Bearer new", count: 4))
        #expect(server.requestCount(path: "/token") == 1)
        await server.stop()
    }

    @Test func tokensWithAShortLifetimeAreUsedSeveralTimes() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in
            ServerResponse(
                headers: ["Content-Type": "application/json"],
                body: Data(#"{"access_token":"a","token_type":"bearer","expires_in":20}"#.utf8))
        }
        server.route("/resource") { .text($0.headers["Authorization"] ?? "") }
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: server.url("/token")), authentication: .post(secret: "s"),
            session: SkippingClock().session)
        let interceptor = OAuthInterceptor(client: client, renewal: .clientCredentials(), origins: [server.url("/")])
        let session = Session(interceptor: interceptor)
        for _ in 0..<10 {
            #expect(try await session.request(server.url("/resource")).serializingString().value == "Bearer a")
        }
        #expect(server.requestCount(path: "/token") == 1)
        await server.stop()
    }

    @Test func proxiesDoNotReceiveTokensWithoutTLS() async throws {
        let (server, proxy) = (try await TestServer.start(), try await TestServer.start())
        server.route("/resource") { .text($0.headers["Authorization"] ?? "") }
        var network = NetworkSettings()
        network.proxies = ProxySettings(try Proxy(proxy.url("").absoluteString))
        var configuration = SessionConfiguration.default
        configuration.network = network
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: server.url("/token")), session: Session())
        let interceptor = OAuthInterceptor(
            client: client, store: OAuthMemoryTokenStore(OAuthToken(accessToken: "b")), origins: [server.url("/")])
        let session = Session(configuration: configuration, interceptor: interceptor)
        let own = session.request(server.url("/resource")).options { $0.network = network }
        for request in [session.request(server.url("/resource")), own] {
            #expect(try await request.serializingString().value == "Bearer b")
        }
        #expect(proxy.connectionCount == 0)
        await server.stop()
        await proxy.stop()
    }

    @Test func failedRenewalsHaveNoLimit() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in .text("overloaded", status: 503) }
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: server.url("/token")), session: Session())
        let store = OAuthMemoryTokenStore(OAuthToken(accessToken: "a", expirationDate: .distantPast, refreshToken: "r"))
        let session = Session(interceptor: OAuthInterceptor(client: client, store: store, origins: [server.url("/")]))
        for _ in 0..<10 {
            let error = await session.request(server.url("/resource")).serializingData().response.error
            guard case .requestAdaptationFailed(OAuthError.failed(503)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        server.route("/token") { _ in try .json(["access_token": "b", "token_type": "bearer"]) }
        server.route("/resource") { .text($0.headers["Authorization"] ?? "") }
        #expect(try await session.request(server.url("/resource")).serializingString().value == "Bearer b")
        await server.stop()
    }

    @Test func withoutATokenEveryRequestRequiresSignIn() async throws {
        let server = try await TestServer.start()
        let client = OAuthClient(
            id: "a", server: OAuthServer(tokenEndpoint: server.url("/token")), session: Session())
        let interceptor = OAuthInterceptor(client: client, origins: [server.url("/")])
        let session = Session(interceptor: interceptor)
        for _ in 0..<10 {
            let error = await session.request(server.url("/resource")).serializingData().response.error
            guard case .requestAdaptationFailed(OAuthError.signInRequired) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(server.requestCount == 0)
        server.route("/resource") { .text($0.headers["Authorization"] ?? "") }
        try await interceptor.signIn(with: OAuthToken(accessToken: "b"))
        #expect(try await session.request(server.url("/resource")).serializingString().value == "Bearer b")
        try await interceptor.signOut()
        #expect(await session.request(server.url("/resource")).serializingData().response.error != nil)
        await server.stop()
    }

    @Test func tokensAreNotSentWithoutTLS() async throws {
        let session = Session()
        let endpoint = try #require(URL(string: "https://as.example/token"))
        let client = OAuthClient(id: "a", server: OAuthServer(tokenEndpoint: endpoint), session: session)
        let store = OAuthMemoryTokenStore(OAuthToken(accessToken: "b"))
        for text in ["http://api.example/", "api.example"] {
            let url = try #require(URL(string: text))
            let interceptor = OAuthInterceptor(client: client, store: store, origins: [url])
            let error = await session.request("http://api.example/", interceptor: interceptor).serializingData()
                .response.error
            guard case .requestAdaptationFailed(is OAuthError) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func aTokenThatCannotBeSavedIsUsedNevertheless() async throws {
        let server = try await AuthlibServer()
        let resource = try server.url("/resource")
        let client = try await server.client("public")
        let store = FailingStore(try await server.userToken(client))
        let failures = Locked(0)
        let interceptor = OAuthInterceptor(client: client, store: store, origins: [resource]) { _ in
            failures.withLock { $0 += 1 }
        }
        let session = Session(interceptor: interceptor)
        for count in 1...3 {
            try await server.control("/expire")
            let value = try await session.request(resource).validate().serializingDecodable(Resource.self).value
            #expect(value.user == "ada")
            // Each refresh uses the refresh token that couldn't be saved.
            #expect(failures.withLock { $0 } == count)
        }
        #expect(try await server.refreshCount() == 3)
    }
}

/// A store that never saves.
private struct FailingStore: OAuthTokenStore {
    struct Failure: Error {}

    let token: OAuthToken

    init(_ token: OAuthToken) { self.token = token }

    func load() -> OAuthToken? { token }

    func update(_ change: @Sendable (OAuthToken?) async throws -> OAuthToken?) async throws -> OAuthToken? {
        _ = try await change(token)
        throw Failure()
    }
}

extension Array where Element: Sendable {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
