import Afar
import AfarTestServer
import Foundation
import Testing

/// Adds a token, and makes up to three attempts.
final class TokenInterceptor: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(bearerToken: "token"))
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: Error, completion: @escaping (RetryResult) -> Void
    ) {
        guard request.response?.statusCode == 503, request.retryCount < 3 else {
            return completion(.doNotRetryWithError(error))
        }
        completion(request.retryCount == 0 ? .retry : .retryWithDelay(0.001))
    }
}

/// An interceptor that only adapts requests.
struct StateAdapter: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.setValue(state.requestID.uuidString, forHTTPHeaderField: "X-Identifier")
        completion(.success(urlRequest))
    }
}

/// Counts retries.
final class LoggingRetryPolicy: RetryPolicy, @unchecked Sendable {
    let retries = Count()

    override func retry(
        _ request: Request, for session: Session, dueTo error: Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        super.retry(request, for: session, dueTo: error) { result in
            if case .retryWithDelay = result { self.retries.increment() }
            completion(result)
        }
    }

    override func shouldRetry(request: Request, dueTo error: Error) -> Bool {
        super.shouldRetry(request: request, dueTo: error) || request.response?.statusCode == 418
    }
}

final class Count: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }

    func increment() { lock.withLock { count += 1 } }
}

struct OAuthCredential: AuthenticationCredential {
    let accessToken: String
    let refreshToken: String
    let userID: String
    let expiration: Date

    var requiresRefresh: Bool { Date(timeIntervalSinceNow: 60 * 5) > expiration }
}

class OAuthAuthenticator: Authenticator, @unchecked Sendable {
    func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
        urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
    }

    func refresh(
        _ credential: OAuthCredential, for session: Session,
        completion: @escaping (Result<OAuthCredential, Error>) -> Void
    ) {
        completion(
            .success(
                OAuthCredential(
                    accessToken: "fresh", refreshToken: "r1", userID: credential.userID,
                    expiration: Date(timeIntervalSinceNow: 60 * 60))))
    }

    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
        let bearerToken = HTTPHeader.authorization(bearerToken: credential.accessToken).value
        return urlRequest.headers["Authorization"] == bearerToken
    }
}

@Suite struct InterceptorTests {
    @Test func theTokenIsAddedAndFailuresAreRetried() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/unstable?failures=2&key=a"), interceptor: TokenInterceptor()).validate()
        let response = await request.serializingData().response
        #expect(response.response?.statusCode == 200)
        #expect(response.request?.headers["Authorization"] == "Bearer token")
        #expect(request.retryCount == 2)
        let failed = await AF.request(server.url("/status/404"), interceptor: TokenInterceptor())
            .validate().serializingData().response
        guard case let .requestRetryFailed(retryError, originalError)? = failed.error else {
            Issue.record("not the retrier's error: \(failed)")
            return
        }
        #expect(retryError.asAFError?.responseCode == 404)
        #expect(originalError.asAFError(orFailWith: "another error").responseCode == 404)
        await server.stop()
    }

    @Test func theStateContainsTheRequest() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/get"), interceptor: StateAdapter())
        let echo = try await request.serializingDecodable(Echo.self).value
        #expect(echo.headers["x-identifier"] == request.id.uuidString)
        await server.stop()
    }

    @Test func closuresCanBeCombined() async throws {
        let server = try await TestServer.start()
        let adapter = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            urlRequest.headers.add(name: "X-First", value: "1")
            completion(.success(urlRequest))
        }
        let retrier = Retrier { request, _, _, completion in
            completion(request.retryCount < 2 ? .retry : .doNotRetry)
        }
        let composite = Interceptor(
            adapters: [adapter], retriers: [retrier], interceptors: [StateAdapter(), RetryPolicy(retryLimit: 1)])
        let session = Session(interceptor: composite)
        let request = session.request(server.url("/unstable?failures=2&key=b")).validate()
        let response = await request.serializingData().response
        #expect(response.response?.statusCode == 200)
        #expect(response.request?.headers["X-First"] == "1")
        #expect(response.request?.headers["X-Identifier"] == request.id.uuidString)
        #expect(request.retryCount == 2)
        await server.stop()
    }

    @Test func closuresCanBePassedInline() async throws {
        let server = try await TestServer.start()
        let session = Session(
            interceptor: Interceptor(adaptHandler: { $2(.success($0)) }, retryHandler: { $3(.doNotRetry) }))
        let request = session.request(
            server.url("/get"),
            interceptor: .interceptor(
                adapter: .adapter { urlRequest, _, completion in
                    var urlRequest = urlRequest
                    urlRequest.headers.add(name: "X-Static", value: "yes")
                    completion(.success(urlRequest))
                },
                retrier: .retrier { _, _, _, completion in completion(.doNotRetry) })
        )
        .interceptor(.retryPolicy(retryLimit: 3))
        .adapt(using: Adapter { $2(.success($0)) })
        .retry(using: ConnectionLostRetryPolicy())
        let echo = try await request.serializingDecodable(Echo.self).value
        #expect(echo.headers["x-static"] == "yes")
        _ = session.request(server.url("/get"), interceptor: .interceptor(adapters: [], retriers: [.retryPolicy]))
        _ = session.request(server.url("/get"), interceptor: .connectionLostRetryPolicy)
        await server.stop()
    }

    @Test func policiesAreSubclassed() async throws {
        let server = try await TestServer.start()
        let policy = LoggingRetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001)
        let response = await AF.request(server.url("/status/418"), interceptor: policy).validate()
            .serializingData().response
        #expect(response.error?.responseCode == 418)
        #expect(policy.retries.value == 1)
        #expect(server.requestCount(path: "/status/418") == 2)
        await server.stop()
    }

    @Test func offlineRetriersCanBeCreated() async throws {
        let retriers = [
            OfflineRetrier(), OfflineRetrier(maximumWait: .seconds(10)),
            OfflineRetrier(requiredInterfaceType: .wifi, maximumWait: .milliseconds(500)),
            OfflineRetrier(prohibitedInterfaceTypes: [.cellular]),
            OfflineRetrier(maximumWait: OfflineRetrier.defaultWait) { error in
                OfflineRetrier.defaultIsOfflineError(error) || (error as? URLError)?.code == .dnsLookupFailed
            },
        ]
        #expect(retriers.count == 5)
        #expect(OfflineRetrier.defaultURLErrorOfflineCodes.contains(.notConnectedToInternet))
        let server = try await TestServer.start()
        let session = Session(interceptor: OfflineRetrier())
        let request = session.request(server.url("/status/503"), interceptor: .offlineRetrier).validate()
        #expect(await request.serializingData().response.error?.responseCode == 503)
        #expect(request.retryCount == 0)
        _ = session.request(server.url("/get"), interceptor: .offlineRetrier(maximumWait: .seconds(1)))
        _ = session.request(server.url("/get"), interceptor: .offlineRetrier(requiredInterfaceType: .wiredEthernet))
        _ = session.request(
            server.url("/get"),
            interceptor: Interceptor(
                adapters: [StateAdapter()],
                retriers: [.retryPolicy, .offlineRetrier(prohibitedInterfaceTypes: [.cellular])]))
        await server.stop()
    }

    @Test func theCredentialIsRefreshed() async throws {
        let server = try await TestServer.start()
        server.route("/account") { request in
            request.headers["Authorization"] == "Bearer fresh" ? .text("yours") : .text("who?", status: 401)
        }
        let credential = OAuthCredential(
            accessToken: "a0", refreshToken: "r0", userID: "u0", expiration: Date(timeIntervalSinceNow: 60 * 60))
        let authenticator = OAuthAuthenticator()
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator, credential: credential,
            refreshWindow: .init(interval: 30, maximumAttempts: 2))
        let session = Session()
        let urlRequest = URLRequest(url: server.url("/account"))
        let text = try await session.request(urlRequest, interceptor: interceptor).validate()
            .serializingString().value
        #expect(text == "yours")
        #expect(interceptor.credential?.accessToken == "fresh")
        interceptor.credential = nil
        let response = await session.request(urlRequest, interceptor: interceptor).serializingString().response
        switch response.error?.underlyingError as? AuthenticationError {
        case .missingCredential: break
        case .excessiveRefresh, nil: Issue.record("not a missing credential: \(response)")
        }
        await server.stop()
    }
}
