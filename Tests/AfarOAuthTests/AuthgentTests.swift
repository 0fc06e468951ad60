import Afar
import AfarOAuth
import Foundation
import TestServers
import Testing

/// The folder with the programs of PyPI's authgent-server, if it is installed.
private let programs = ProcessInfo.processInfo.environment["AFAR_OAUTH_SERVER"]

/// The flows with PyPI's authgent-server, which requires DPoP proofs with nonces. `make oauth` installs it and sets the variable.
@Suite(.timeLimit(.minutes(5)), .enabled(if: programs != nil))
struct AuthgentTests {
    private struct Registration: Decodable {
        let clientId: String
        let clientSecret: String
    }

    private struct Server {
        private static let encoder: JSONParameterEncoder = {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return JSONParameterEncoder(encoder: encoder)
        }()

        private static let decoder: JSONDecoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }()

        let child: ServerChild
        let session = Session()

        /// - Parameter requiresDPoP: Whether each token is bound to a key.
        init(requiresDPoP: Bool) async throws {
            let programs = programs ?? ""
            child = try await ServerChild("authgent") { folder, port in
                [
                    "env", "AUTHGENT_SECRET_KEY=a-key-of-the-tests", "AUTHGENT_REQUIRE_DPOP=\(requiresDPoP)",
                    "AUTHGENT_DATABASE_URL=sqlite+aiosqlite:///\(folder.path)/database",
                    "AUTHGENT_SERVER_URL=http://127.0.0.1:\(port)", "AUTHGENT_TOKEN_RATE_LIMIT=10000",
                    "AUTHGENT_REGISTER_RATE_LIMIT=10000", "\(programs)/authgent-server", "run", "--host", "127.0.0.1",
                    "--port", "\(port)",
                ]
            }
        }

        func url(_ path: String) throws -> URL { try #require(URL(string: "http://127.0.0.1:\(child.port)\(path)")) }

        /// Registers a client. All requests to the server share one transaction, so it sometimes loses a registration. In that case, the client is
        /// registered again.
        private func registration(_ body: some Encodable & Sendable) async throws -> Registration {
            while true {
                let registration = try await session.request(
                    url("/register"), method: .post, parameters: body, encoder: Self.encoder
                ).validate().serializingDecodable(Registration.self, decoder: Self.decoder).value
                let request = ["grant_type": "client_credentials", "client_id": registration.clientId]
                let answer = try await session.request(url("/token"), method: .post, parameters: request)
                    .serializingString().value
                if !answer.contains("invalid_client") { return registration }
            }
        }

        /// Registers a client.
        func client(_ dpop: OAuthDPoP? = nil, redirectURI: URL? = nil, isBasic: Bool = false) async throws
            -> OAuthClient
        {
            let grants = ["token-exchange", "device_code"].map { "urn:ietf:params:oauth:grant-type:\($0)" }
            struct Body: Encodable {
                let clientName = "test"
                let grantTypes: [String]
                let redirectUris: [String]
                let scope = "read write"
            }
            let body = Body(
                grantTypes: ["client_credentials", "authorization_code", "refresh_token"] + grants,
                redirectUris: redirectURI.map { [$0.absoluteString] } ?? [])
            let registration = try await registration(body)
            let secret = registration.clientSecret
            return OAuthClient(
                id: registration.clientId, server: try await OAuthServer.discover(issuer: url(""), session: session),
                authentication: isBasic ? .basic(secret: secret) : .post(secret: secret), dpop: dpop, session: session)
        }
    }

    @Test(arguments: [false, true]) func aClientGetsATokenForItself(_ isBasic: Bool) async throws {
        let server = try await Server(requiresDPoP: false)
        let client = try await server.client(isBasic: isBasic)
        let token = try await client.clientCredentials(
            scope: "read", resources: [try #require(URL(string: "https://api.example/v1"))])
        #expect(token.type == "Bearer")
        #expect(token.scope == "read")
        try await client.revoke(token)
        await expect(refusedWith: .init(rawValue: "token_revoked")) {
            _ = try await client.exchange(token.accessToken, audiences: ["https://other.example"])
        }
    }

    @Test func aTokenIsExchanged() async throws {
        let server = try await Server(requiresDPoP: false)
        let client = try await server.client()
        let subject = try await client.clientCredentials(scope: "read write")
        let token = try await client.exchange(
            subject.accessToken, audiences: ["https://downstream.example"], scope: "read")
        #expect(token.issuedTokenType == OAuthTokenType.accessToken.rawValue)
        #expect(token.scope == "read")
    }

    @Test func aDeviceCodeIsConfirmed() async throws {
        let server = try await Server(requiresDPoP: false)
        let registered = try await server.client()
        let client = OAuthClient(
            id: registered.id, server: registered.server, authentication: registered.authentication,
            session: SkippingClock().session)
        let authorization = try await client.deviceAuthorization(scope: "read")
        _ = try await server.session.request(
            server.url("/device/complete"), method: .post,
            parameters: ["user_code": authorization.userCode, "subject": "ada"], encoder: .json
        ).validate().serializingData().value
        #expect(try await authorization.token().scope == "read")
    }

    @Test func aUserSignsInWithABrowserAndDPoP() async throws {
        let server = try await Server(requiresDPoP: true)
        let dpop = OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256))
        let listener = try OAuthLoopbackListener()
        let client = try await server.client(dpop, redirectURI: listener.redirectURI)
        #expect(client.server.sendsIssuerInRedirects)
        let authorization = try await client.authorization(redirectURI: listener.redirectURI, scope: "read")
        async let pending = authorization.token(from: listener)
        _ = try await server.session.request(authorization.url).validate().serializingString().value
        let token = try await pending
        #expect(token.type == "DPoP")
        let new = try await client.refresh(token)
        #expect(new.type == "DPoP")
        #expect(new.refreshToken != token.refreshToken)
        await expect(refusedWith: .invalidGrant) { _ = try await client.refresh(token) }
    }

    @Test func aResourceVerifiesProofsWithNonces() async throws {
        let server = try await Server(requiresDPoP: true)
        let program = "\(programs ?? "")/python"
        let child = try await ServerChild("resource") { _, port in
            [program, "Tests/AfarOAuthTests/dpop-resource.py", "\(port)"]
        }
        let resource = try #require(URL(string: "http://127.0.0.1:\(child.port)/resource?page=1"))
        let dpop = OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256))
        let client = try await server.client(dpop)
        let interceptor = OAuthInterceptor(
            client: client, renewal: .clientCredentials(scope: "read"), origins: [resource])
        for method in [HTTPMethod.get, .post, .get] {
            let value = try await server.session.request(resource, method: method, interceptor: interceptor).validate()
                .serializingDecodable([String: String].self).value
            #expect(value["scope"] == "read")
        }
        // Without the proof's key, the token is refused.
        var token = interceptor.token
        token?.source = nil
        let other = OAuthInterceptor(
            client: try await server.client(OAuthDPoP(key: SignatureKey.generate(.ecdsaP256SHA256))),
            store: OAuthMemoryTokenStore(token), origins: [resource])
        let response = await server.session.request(resource, interceptor: other).validate().serializingData().response
        #expect(response.response?.statusCode == 401)
        withExtendedLifetime(child) {}
    }
}
