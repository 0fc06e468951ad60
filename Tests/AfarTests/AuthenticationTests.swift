import Afar
import AfarCore
import AfarTestServer
import Testing

/// A thousand concurrent requests with an expired token, over real connections.
@Suite(.timeLimit(.minutes(2))) struct AuthenticationTests {
    private struct Offline: Error {}

    private struct Token: AuthenticationCredential {
        let text: String
        var requiresRefresh = false
    }

    /// An authenticator that requests tokens from the server's `/token`, with its own session.
    private final class Service: Authenticator {
        private let session: Session
        private let url: URL
        private let refreshed = Locked(0)

        init(_ url: URL, over session: Session) {
            self.url = url
            self.session = session
        }

        var refreshCount: Int { refreshed.withLock { $0 } }

        func apply(_ credential: Token, to urlRequest: inout URLRequest) {
            urlRequest.headers.update(.authorization(bearerToken: credential.text))
        }

        func refresh(
            _ credential: Token, for session: Session,
            completion: @escaping @Sendable (Result<Token, any Error>) -> Void
        ) {
            refreshed.withLock { $0 += 1 }
            self.session.request(url).validate().responseString(queue: .global()) { response in
                completion(response.result.map { Token(text: $0) }.mapError { $0 })
            }
        }

        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
        ) -> Bool {
            response.statusCode == 401
        }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
            urlRequest.headers["Authorization"] == "Bearer \(credential.text)"
        }
    }

    /// The place where the interceptor is set.
    enum Use: CaseIterable {
        case session, request
    }

    /// Fulfilled when all requests have been started, so that all fail with the expired token before it is refreshed.
    private let allStarted = Deferred<Void>()

    /// Starts a server that requires the token `fresh`, and issues it if `givesTokens` is true.
    private func start(givesTokens: Bool) async throws -> TestServer {
        let server = try await TestServer.start()
        server.route("/token") { [allStarted] _ in
            await allStarted.value
            return givesTokens ? .text("fresh") : .text("no", status: 500)
        }
        server.route("/secret") { request in
            request.headers["Authorization"] == "Bearer fresh" ? .text("secret") : .text("who?", status: 401)
        }
        return server
    }

    private func responses(
        of count: Int, from server: TestServer, over kind: TransportKind, by use: Use,
        _ interceptor: any RequestInterceptor
    ) async -> [AFDataResponse<String>] {
        var configuration = SessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 32
        let session = Session(
            configuration: configuration, interceptor: use == .session ? interceptor : nil,
            transport: kind.make(configuration))
        let tasks = (0..<count).map { _ in
            session.request(server.url("/secret"), interceptor: use == .request ? interceptor : nil).validate()
                .serializingString()
        }
        allStarted.fulfill(())
        var responses: [AFDataResponse<String>] = []
        for task in tasks { responses.append(await task.response) }
        return responses
    }

    @Test(arguments: Use.allCases, [true, false])
    func aThousandRequestsWithAnExpiredTokenRefreshItOnce(use: Use, requiresRefresh: Bool) async throws {
        let server = try await start(givesTokens: true)
        let service = Service(server.url("/token"), over: TransportKind.platform.session())
        let interceptor = AuthenticationInterceptor(
            authenticator: service, credential: Token(text: "stale", requiresRefresh: requiresRefresh))
        let responses = await responses(of: 1000, from: server, over: .platform, by: use, interceptor)
        #expect(responses.count { $0.value == "secret" } == 1000)
        #expect(service.refreshCount == 1)
        #expect(server.requestCount(path: "/token") == 1)
        #expect(interceptor.credential?.text == "fresh")
        await server.stop()
    }

    @Test(arguments: Use.allCases, [true, false])
    func aFailedRefreshFailsAThousandRequestsOnce(use: Use, requiresRefresh: Bool) async throws {
        let server = try await start(givesTokens: false)
        let service = Service(server.url("/token"), over: TransportKind.platform.session())
        let interceptor = AuthenticationInterceptor(
            authenticator: service, credential: Token(text: "stale", requiresRefresh: requiresRefresh))
        let responses = await responses(of: 1000, from: server, over: .platform, by: use, interceptor)
        let causes = responses.compactMap { $0.error?.underlyingError?.asAFError?.responseCode }
        #expect(causes.count { $0 == 500 } == 1000)
        #expect(service.refreshCount == 1)
        #expect(server.requestCount(path: "/secret") <= (requiresRefresh ? 0 : 1000))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func everyTransportIsSupported(kind: TransportKind) async throws {
        let server = try await start(givesTokens: true)
        let service = Service(server.url("/token"), over: kind.session())
        let interceptor = AuthenticationInterceptor(authenticator: service, credential: Token(text: "stale"))
        let responses = await responses(of: 20, from: server, over: kind, by: .session, interceptor)
        #expect(responses.count { $0.value == "secret" } == 20)
        #expect(service.refreshCount == 1)
        await server.stop()
    }
}
