import Afar
import AfarOAuth
import AfarTestServer
import Foundation
import TestServers
import Testing

/// How often tokens are renewed, and which stored tokens are used.
@Suite(.timeLimit(.minutes(2)))
struct RenewalTests {
    /// A server that issues tokens with increasing numbers, and resources that accept some of them.
    private final class Issuer: Sendable {
        let server: TestServer
        let count = Locked(0)
        private let accepted = Locked("")

        init(lifetime: Int? = nil) async throws {
            server = try await TestServer.start()
            server.route("/token") { [self] _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let expiration = lifetime.map { ",\"expires_in\":\($0)" } ?? ""
                let text = "{\"access_token\":\"t\(number)\",\"token_type\":\"bearer\"\(expiration)}"
                return .content("application/json", Data(text.utf8))
            }
            server.route("/resource") { [self] request in
                let token = request.headers["Authorization"] ?? ""
                return accepted.withLock { $0 == token } ? .text(token) : ServerResponse(status: 401)
            }
        }

        /// Accepts only this token.
        func accept(_ token: String) { accepted.withLock { $0 = "Bearer \(token)" } }

        func client(_ id: String = "a", issuer: String? = nil, session: Session = Session()) -> OAuthClient {
            OAuthClient(
                id: id, server: OAuthServer(tokenEndpoint: server.url("/token"), issuer: issuer), session: session)
        }
    }

    private static let old = OAuthToken(accessToken: "t0", refreshToken: "r")

    @Test func aServiceThatRefusesEveryTokenIsLimited() async throws {
        let (issuer, other) = (try await Issuer(), try await Issuer())
        let clock = SkippingClock()
        let interceptor = OAuthInterceptor(
            client: issuer.client(session: clock.session), store: OAuthMemoryTokenStore(Self.old),
            origins: [issuer.server.url("/"), other.server.url("/")])
        let session = Session(interceptor: interceptor)
        func failure(_ server: Issuer) async -> AFError? {
            await session.request(server.server.url("/resource")).validate().serializingData().response.error
        }
        for count in 1...5 {
            // The new token is refused, too, so the request isn't sent a third time.
            #expect(await failure(issuer)?.responseCode == 401)
            #expect(issuer.count.withLock { $0 } == count)
        }
        guard case .requestRetryFailed(OAuthError.renewedTooOften, _) = await failure(issuer) else {
            Issue.record("The limit has no effect.")
            return
        }
        // The limit is that of one service. Another one, for which the token is too old, is renewed.
        other.accept("t6")
        #expect(await failure(other) == nil)
        #expect(issuer.count.withLock { $0 } == 6)
        #expect(issuer.server.requestCount(path: "/resource") == 11)
        try await clock.sleep(until: clock.now + .seconds(31), tolerance: nil)
        issuer.accept("t7")
        #expect(await failure(issuer) == nil)
        await issuer.server.stop()
        await other.server.stop()
    }

    /// A stored token that another process has renewed is tried before it is renewed again.
    @Test func aRefusedTokenOfTheStoreIsRenewed() async throws {
        let issuer = try await Issuer()
        let store = OAuthMemoryTokenStore(Self.old)
        let interceptor = OAuthInterceptor(client: issuer.client(), store: store, origins: [issuer.server.url("/")])
        _ = try await interceptor.validToken()
        try await store.update { _ in OAuthToken(accessToken: "of another process", refreshToken: "r") }
        issuer.accept("t1")
        let session = Session()
        let request = session.request(issuer.server.url("/resource"), interceptor: interceptor)
        #expect(try await request.validate().serializingString().value == "Bearer t1")
        #expect(request.retryCount == 2)
        await issuer.server.stop()
    }

    @Test func tokensThatExpireImmediatelyAreLimited() async throws {
        let issuer = try await Issuer()
        let expired = OAuthRenewal { client, token throws(OAuthError) in
            var token = try await client.refresh(Self.old)
            token.expirationDate = .distantPast
            return token
        }
        let interceptor = OAuthInterceptor(
            client: issuer.client(), store: OAuthMemoryTokenStore(), renewal: expired,
            origins: [issuer.server.url("/")])
        for _ in 0..<5 { _ = try await interceptor.validToken() }
        await #expect(throws: OAuthError.self) { _ = try await interceptor.validToken() }
        #expect(issuer.count.withLock { $0 } == 5)
        await issuer.server.stop()
    }

    /// Only tokens that have expired when they arrive are limited.
    @Test(arguments: [1, 2, 11]) func shortLifetimesAreNotLimited(_ lifetime: Int) async throws {
        let issuer = try await Issuer(lifetime: lifetime)
        let clock = SkippingClock()
        let interceptor = OAuthInterceptor(
            client: issuer.client(session: clock.session), store: OAuthMemoryTokenStore(Self.old),
            origins: [issuer.server.url("/")])
        try await interceptor.signIn(
            with: OAuthToken(accessToken: "t0", expirationDate: .distantPast, refreshToken: "r"))
        for count in 1...20 {
            #expect(try await interceptor.validToken().accessToken == "t\(count)")
            try await clock.sleep(until: clock.now + .seconds(lifetime), tolerance: nil)
        }
        await issuer.server.stop()
    }

    /// A custom renewal can refresh its own tokens with another client.
    @Test func aRenewalCanUseAnotherClient() async throws {
        let issuer = try await Issuer()
        let other = issuer.client("b", issuer: "https://b.example")
        let store = OAuthMemoryTokenStore()
        let renewal = OAuthRenewal { client, token throws(OAuthError) in
            #expect(token?.source == nil)
            return try await other.refresh(token ?? Self.old)
        }
        let client = issuer.client(issuer: "https://a.example")
        let interceptor = OAuthInterceptor(
            client: client, store: store, renewal: renewal, origins: [issuer.server.url("/")])
        let session = Session(interceptor: interceptor)
        for count in 1...3 {
            issuer.accept("t\(count)")
            let request = session.request(issuer.server.url("/resource")).validate()
            #expect(try await request.serializingString().value == "Bearer t\(count)")
            #expect(store.load()?.source?.clientID == "a")
        }
        await issuer.server.stop()
    }

    /// Other requests can renew the token while a request is sent, but not without limit.
    @Test func aRequestIsSentOnlySomeTimes() async throws {
        let issuer = try await Issuer()
        let interceptor = OAuthInterceptor(
            client: issuer.client(), store: OAuthMemoryTokenStore(Self.old), origins: [issuer.server.url("/")])
        let count = Locked(0)
        issuer.server.route("/late") { _ in
            // As if another request had renewed the token meanwhile.
            let number = count.withLock { count in
                count += 1
                return count
            }
            try await interceptor.signIn(with: OAuthToken(accessToken: "other\(number)", refreshToken: "r"))
            return ServerResponse(status: 401)
        }
        let session = Session(interceptor: interceptor)
        let request = session.request(issuer.server.url("/late")).validate()
        let response = await request.serializingString().response
        #expect(response.error?.responseCode == 401, "\(response)")
        #expect(request.retryCount == 3)
        await issuer.server.stop()
    }

    // MARK: Valid tokens

    @Test func aValidTokenIsRenewedOnce() async throws {
        let issuer = try await Issuer()
        var expired = Self.old
        expired.expirationDate = .distantPast
        let interceptor = OAuthInterceptor(
            client: issuer.client(), store: OAuthMemoryTokenStore(expired), origins: [issuer.server.url("/")])
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await interceptor.validToken().accessToken } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(tokens == ["t1"])
        let canceled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await interceptor.validToken()
        }
        _ = await canceled.result
        let empty = OAuthInterceptor(client: issuer.client(), origins: [issuer.server.url("/")])
        let error = await #expect(throws: OAuthError.self) { _ = try await empty.validToken() }
        guard case .signInRequired = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await issuer.server.stop()
    }

    @Test func aRefreshCanHaveAScope() async throws {
        let server = try await TestServer.start()
        let forms = Locked<[[String: String]]>([])
        server.route("/token") { request in
            forms.withLock { $0.append(formMembers(request)) }
            return try .json(["access_token": "a", "token_type": "Bearer"])
        }
        let client = OAuthClient(id: "a", server: OAuthServer(tokenEndpoint: server.url("/token")), session: Session())
        let api = try #require(URL(string: "https://api.example"))
        let interceptor = OAuthInterceptor(
            client: client,
            store: OAuthMemoryTokenStore(
                OAuthToken(
                    accessToken: "old", expirationDate: .distantPast, refreshToken: "r", scope: "a b", idToken: "i",
                    otherMembers: ["tenant": "7"])),
            renewal: .refreshToken(scope: "a", resources: [api]), origins: [api])
        let token = try await interceptor.validToken()
        #expect(forms.withLock { $0.first?["scope"] } == "a")
        #expect(forms.withLock { $0.first?["resource"] } == "https://api.example")
        #expect(token.scope == "a" && token.idToken == "i" && token.otherMembers == ["tenant": "7"])
        await server.stop()
    }

    // MARK: Stored tokens

    /// Two configurations use the same store (mix-up).
    @Test func aTokenOfAnotherServerOrClientIsNotUsed() async throws {
        let (first, second) = (try await Issuer(), try await Issuer())
        let store = OAuthMemoryTokenStore()
        func interceptor(_ client: OAuthClient, _ renewal: OAuthRenewal = .refreshToken) -> OAuthInterceptor {
            OAuthInterceptor(
                client: client, store: store, renewal: renewal,
                origins: [first.server.url("/"), second.server.url("/")])
        }
        let token = try await first.client(issuer: "https://as.example").refresh(Self.old)
        try await interceptor(first.client()).signIn(with: token)
        #expect(store.load()?.source?.clientID == "a")
        // The issuer isn't known, but the endpoint is the same.
        #expect(try await interceptor(first.client()).validToken().accessToken == "t1")
        let key = OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256))
        let others = [
            second.client(), first.client("b"), first.client(issuer: "https://evil.example"),
            OAuthClient(id: "a", server: first.client().server, dpop: key, session: Session()),
        ]
        for client in others {
            let other = interceptor(client)
            let session = Session(interceptor: other)
            let error = await session.request(second.server.url("/resource")).serializingData().response.error
            guard case .requestAdaptationFailed(OAuthError.tokenMismatch) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            // The refresh token is kept, although this client doesn't need it.
            await #expect(throws: OAuthError.self) {
                _ = try await interceptor(client, .clientCredentials()).validToken()
            }
            try await other.signOut()
            for use in [client.revoke, { _ = try await client.refresh($0) }, other.signIn] {
                let error = await #expect(throws: OAuthError.self) { try await use(token) }
                guard case .tokenMismatch = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
        #expect(second.server.requestCount == 0)
        #expect(store.load()?.accessToken == "t1")
        await first.server.stop()
        await second.server.stop()
    }

    /// A file of an earlier version has neither a source nor a lifetime.
    @Test func olderFilesAreReadable() async throws {
        let issuer = try await Issuer()
        let folder = try TestFolder()
        let file = folder.url.appending(path: "token")
        try Data(#"{"accessToken":"old","type":"Bearer","refreshToken":"r","otherMembers":{}}"#.utf8).write(to: file)
        chmod(file.path, 0o600)
        let interceptor = OAuthInterceptor(
            client: issuer.client(), store: OAuthFileTokenStore(file), origins: [issuer.server.url("/")])
        #expect(try await interceptor.validToken().accessToken == "old")
        await issuer.server.stop()
    }

    /// Half of the lifetime of a short token has passed for all processes that load it, not only for the one that requested it.
    @Test func aShortLifetimeIsStored() async throws {
        let issuer = try await Issuer(lifetime: 20)
        let clock = SkippingClock()
        let store = OAuthMemoryTokenStore(Self.old)
        func interceptor() -> OAuthInterceptor {
            OAuthInterceptor(
                client: issuer.client(session: clock.session), store: store, origins: [issuer.server.url("/")])
        }
        issuer.accept("t1")
        let session = Session(interceptor: interceptor())
        _ = try await session.request(issuer.server.url("/resource")).validate().serializingData().value
        try await clock.sleep(until: clock.now + .seconds(8), tolerance: nil)
        // The remaining lifetime is 12 seconds.
        for _ in 0..<3 { #expect(try await interceptor().validToken().accessToken == "t1") }
        try await clock.sleep(until: clock.now + .seconds(3), tolerance: nil)
        #expect(try await interceptor().validToken().accessToken == "t2")
        for _ in 0..<3 { #expect(try await interceptor().validToken().accessToken == "t2") }
        await issuer.server.stop()
    }

    @Test func aTokenCanBeReadWithoutWriting() async throws {
        let issuer = try await Issuer()
        let folder = try TestFolder()
        let file = folder.url.appending(path: "token")
        try await OAuthFileTokenStore(file).update { _ in Self.old }
        // The store can't be locked.
        try FileManager.default.removeItem(at: folder.url.appending(path: "token.lock"))
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "token.lock"), withIntermediateDirectories: false)
        let interceptor = OAuthInterceptor(
            client: issuer.client(), store: OAuthFileTokenStore(file), origins: [issuer.server.url("/")])
        #expect(try await interceptor.validToken() == Self.old)
        await issuer.server.stop()
    }
}
