import Afar

struct OAuthToken: AuthenticationCredential, Decodable {
    let access: String
    let refresh: String
    let expires: Date

    // A minute early, so that it doesn't expire in transit.
    var requiresRefresh: Bool { expires < Date(timeIntervalSinceNow: 60) }
}

final class OAuthAuthenticator: Authenticator {
    func apply(_ credential: OAuthToken, to urlRequest: inout URLRequest) {
        urlRequest.headers.update(.authorization(bearerToken: credential.access))
    }

    // AF doesn't have this interceptor. In a session that has it, the refresh would wait for itself.
    func refresh(
        _ credential: OAuthToken,
        for session: Session,
        completion: @escaping @Sendable (Result<OAuthToken, any Error>) -> Void
    ) {
        let parameters = ["grant_type": "refresh_token", "refresh_token": credential.refresh]
        AF.request("https://api.example.com/oauth/token", method: .post, parameters: parameters)
            .validate()
            .responseDecodable(of: OAuthToken.self, queue: .global()) { response in
                completion(response.result.mapError { $0 })
            }
    }

    func didRequest(
        _ urlRequest: URLRequest,
        with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthToken) -> Bool {
        urlRequest.headers["Authorization"] == "Bearer \(credential.access)"
    }
}

struct Signer: RequestInterceptor {
    let keyID: String
    let authenticationCode: @Sendable (Data) -> Data

    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        let path = urlRequest.url?.path(percentEncoded: true) ?? "/"
        let query = urlRequest.url?.query(percentEncoded: true) ?? ""
        let date = String(Int(Date().timeIntervalSince1970))

        let head = [urlRequest.httpMethod ?? "GET", path, query, date].joined(separator: "\n")
        let code = authenticationCode(Data(head.utf8) + Data("\n".utf8) + (urlRequest.httpBody ?? Data()))

        urlRequest.headers.update(name: "X-Date", value: date)
        urlRequest.headers.update(
            .authorization("Signature keyId=\"\(keyID)\", signature=\"\(code.base64EncodedString())\""))
        completion(.success(urlRequest))
    }
}

actor Vault {
    private(set) var token = "from the vault"
}

struct Unlocking: AsyncRequestAdapter {
    let vault: Vault

    func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest {
        var urlRequest = urlRequest
        urlRequest.headers.update(.authorization(bearerToken: await vault.token))
        return urlRequest
    }
}

enum InterceptorSamples {
    static func closures() async throws {
        let request = AF.request("https://api.example.com/me")
            .adapt(
                using: .adapter { urlRequest, _, completion in
                    var urlRequest = urlRequest
                    urlRequest.headers.update(name: "X-Trace", value: UUID().uuidString.lowercased())
                    completion(.success(urlRequest))
                })
        print(try await request.serializingString().value)
    }

    static func awaiting(_ vault: Vault) async throws {
        let me = try await AF.request("https://api.example.com/me")
            .adapt(using: Unlocking(vault: vault))
            .serializingString()
            .value
        print(me)
    }

    static func policy() async throws {
        let message = try await AF.request("https://api.example.com/flaky", interceptor: .retryPolicy)
            .validate()
            .serializingString()
            .value
        print(message)
    }

    static func respectingRetryAfter() async throws {
        let request = AF.request(
            "https://api.example.com/crowded", interceptor: .retryPolicy(respectingRetryAfterUpTo: 30, retryLimit: 5))
        print(try await request.validate().serializingString().value)
    }

    static func posting() async throws {
        let policy = RetryPolicy(retryableHTTPMethods: RetryPolicy.defaultRetryableHTTPMethods.union([.post]))
        let key = HTTPHeader(name: "Idempotency-Key", value: UUID().uuidString)
        let response = await AF.request(
            "https://api.example.com/tables", method: .post, parameters: ["seats": 4], headers: [key],
            interceptor: policy
        ).validate().serializingString().response
        print(response.value ?? "no table")
    }

    static func ownRetrier() async {
        let request = AF.request("https://api.example.com/flaky?locked")
            .validate()
            .retry(
                using: .retrier { request, _, _, completion in
                    let isLocked = request.response?.statusCode == 423
                    completion(isLocked && request.retryCount < 10 ? .retryWithDelay(0.2) : .doNotRetry)
                })
        print(await request.serializingString().response.value ?? "still locked")
    }

    static func offline() -> Session {
        let session = Session(interceptor: .offlineRetrier(maximumWait: .seconds(30)))
        return session
    }

    static func refreshing(_ token: OAuthToken) async throws {
        let interceptor = AuthenticationInterceptor(authenticator: OAuthAuthenticator(), credential: token)

        let account = try await AF.request("https://api.example.com/account", interceptor: interceptor)
            .validate()
            .serializingString()
            .value
        print(account)
    }

    static func signing(_ hmac: @escaping @Sendable (Data) -> Data) async throws {
        let order = try await AF.request(
            "https://api.example.com/orders?dry=1", method: .post, parameters: ["tea": 2],
            interceptor: Signer(keyID: "k1", authenticationCode: hmac)
        ).validate().serializingString().value
        print(order)
    }

    static func together(_ service: any RequestInterceptor, _ signer: Signer) -> Session {
        let session = Session(
            interceptor: .interceptor(
                adapters: [signer],
                retriers: [.connectionLostRetryPolicy(retryLimit: 1)],
                interceptors: [service]))
        return session
    }
}
