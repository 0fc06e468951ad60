import Afar
import Foundation
import TestServers
import Testing

@testable import AfarOAuth

/// The flows with a server of authlib.
@Suite(.timeLimit(.minutes(5)))
struct FlowTests {
    @Test func aConfidentialClientGetsATokenForItself() async throws {
        let server = try await AuthlibServer()
        let client = try await server.confidentialClient()
        let token = try await client.clientCredentials(scope: "reports")
        #expect(token.type == "Bearer")
        #expect(token.refreshToken == nil)
        #expect(token.scope == "reports")
        #expect(try #require(token.expirationDate).timeIntervalSinceNow > 800_000)
        let posting = try await server.client("posting", .post(secret: "another secret"))
        #expect(try await !posting.clientCredentials().accessToken.isEmpty)
        await expect(refusedWith: .invalidClient) {
            _ = try await server.client("confidential", .basic(secret: "wrong")).clientCredentials()
        }
    }

    @Test(arguments: [false, true]) func aClientAuthenticatesWithAPrivateKey(_ isRSA: Bool) async throws {
        let server = try await isRSA ? AuthlibServer(key: TestKeys.rsa, algorithm: .rsaPKCS1SHA256) : AuthlibServer()
        let audience = try server.url("/token").absoluteString
        let client = try await server.client("keyed", .privateKeyJWT(server.key, keyID: "1", audience: audience))
        let (first, second) = (try await client.clientCredentials(), try await client.clientCredentials())
        #expect(first.accessToken != second.accessToken)
        let otherKey = try SignatureKey(
            privateKeyPEM: isRSA ? TestKeys.otherRSA : TestKeys.otherP256, algorithm: server.key.algorithm)
        let other = try await server.client("keyed", .privateKeyJWT(otherKey, audience: audience))
        await expect(refusedWith: .invalidClient) { _ = try await other.clientCredentials() }
    }

    /// A client authenticates with a token of a signing service, and another one of its tokens is a grant (RFC 7523, sections 2.1 and 2.2).
    @Test func assertionsAreMadeElsewhere() async throws {
        let server = try await AuthlibServer()
        let audience = try server.url("/token").absoluteString
        @Sendable func assertion(_ subject: String, _ key: SignatureKey) throws -> String {
            try key.token(
                header: ["typ": "JWT"],
                claims: ["iss": "keyed", "sub": subject, "aud": audience, "jti": UUID().uuidString],
                times: ["iat": Date(), "exp": Date(timeIntervalSinceNow: 60)])
        }
        let client = try await server.client("keyed", .assertion { [key = server.key] in try assertion("keyed", key) })
        for _ in 0..<2 { _ = try await client.clientCredentials() }
        let (grant, other) = (
            "urn:ietf:params:oauth:grant-type:jwt-bearer", try SignatureKey.generate(.ecdsaP256SHA256)
        )
        let token = try await client.requestToken(
            grantType: grant, scope: "files", parameters: ["assertion": assertion("ada", server.key)])
        #expect(token.scope == "files")
        let interceptor = OAuthInterceptor(client: client, origins: [try server.url("/")])
        try await interceptor.signIn(with: token)
        let resource = try await server.session.request(server.url("/resource"), interceptor: interceptor).validate()
            .serializingDecodable([String: String].self).value
        #expect(resource["user"] == "ada")
        await expect(refusedWith: .invalidGrant) {
            _ = try await client.requestToken(grantType: grant, parameters: ["assertion": assertion("ada", other)])
        }
        let forger = try await server.client("keyed", .assertion { try assertion("keyed", other) })
        await expect(refusedWith: .invalidClient) { _ = try await forger.clientCredentials() }
    }

    @Test func aUserAuthorizesAClientInABrowser() async throws {
        let server = try await AuthlibServer()
        let client = try await server.client("public")
        let token = try await server.userToken(client, scope: "files photos")
        #expect(token.scope == "files photos")
        #expect(token.refreshToken != nil)
        let redirectURI = try #require(URL(string: "com.example.app:/callback"))
        let denied = try await client.authorization(redirectURI: redirectURI, parameters: ["deny": "1"])
        let redirect = try await server.browser(denied.url)
        await expect(refusedWith: .accessDenied) { _ = try await denied.token(redirectedTo: redirect) }
    }

    @Test func aCodeOfAnotherVerifierIsRefused() async throws {
        let server = try await AuthlibServer()
        let client = try await server.client("public")
        let redirectURI = try #require(URL(string: "com.example.app:/callback"))
        let first = try await client.authorization(redirectURI: redirectURI)
        let second = try await client.authorization(redirectURI: redirectURI)
        // The code of the second authorization with the state of the first.
        let code = try #require(query(try await server.browser(second.url))["code"])
        let state = try #require(query(first.url)["state"])
        let injected = try #require(URL(string: "com.example.app:/callback?code=\(code)&state=\(state)"))
        await expect(refusedWith: .invalidGrant) { _ = try await first.token(redirectedTo: injected) }
    }

    @Test func aTokenIsRefreshedAndRotated() async throws {
        let server = try await AuthlibServer()
        let client = try await server.client("public")
        let token = try await server.userToken(client)
        let new = try await client.refresh(token)
        #expect(new.refreshToken != token.refreshToken)
        #expect(new.accessToken != token.accessToken)
        #expect(new.scope == "files")
        await expect(refusedWith: .invalidGrant) { _ = try await client.refresh(token) }
        await #expect(throws: OAuthError.self) { _ = try await client.refresh(OAuthToken(accessToken: "a")) }
    }

    @Test func aRevokedTokenIsRefused() async throws {
        let server = try await AuthlibServer()
        let client = try await server.client("public")
        let token = try await server.userToken(client)
        try await client.revoke(token)
        await expect(refusedWith: .invalidGrant) { _ = try await client.refresh(token) }
        // Revoking an unknown token succeeds (RFC 7009, section 2.2).
        try await client.revoke(OAuthToken(accessToken: "unknown"))
    }

    @Test func aDeviceCodeIsConfirmed() async throws {
        let server = try await AuthlibServer()
        let clock = SkippingClock()
        let client = try await server.client("public", session: clock.session)
        let authorization = try await client.deviceAuthorization(scope: "files")
        let page = try #require(authorization.verificationURIComplete)
        #expect(page.absoluteString.contains(authorization.userCode))
        let token = Task { try await authorization.token() }
        // The server demands a slower pace after the first request.
        while clock.delays.count < 4 { try await Task.sleep(for: .milliseconds(5)) }
        _ = try await server.session.request(page).serializingString().value
        #expect(try await token.value.scope == "files")
        #expect(clock.delays.prefix(4).map { Int(($0 / .seconds(1)).rounded()) } == [5, 5, 10, 15])
    }

    @Test func aDeniedDeviceCodeFails() async throws {
        let server = try await AuthlibServer()
        let client = try await server.client("public", session: SkippingClock().session)
        let authorization = try await client.deviceAuthorization()
        try await server.control("/device?user_code=\(authorization.userCode)&deny=1")
        await expect(refusedWith: .accessDenied) { _ = try await authorization.token() }
    }

    @Test func anUnconfirmedDeviceCodeExpires() async throws {
        let server = try await AuthlibServer()
        let clock = SkippingClock()
        let client = try await server.client("public", session: clock.session)
        let authorization = try await client.deviceAuthorization()
        let error = await #expect(throws: OAuthError.self) { _ = try await authorization.token() }
        guard case .deviceCodeExpired = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(clock.delays.reduce(.zero, +) > .seconds(1_799))
    }

    @Test func aClientAuthenticatesWithACertificate() async throws {
        let server = try await AuthlibServer()
        let certificates = try TestCertificates.shared.get()
        let proxy = try await ServerChild("nginx") { folder, port in
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path)/\($0);"
            }
            return """
                daemon off; master_process off; pid \(folder.path)/pid; error_log stderr notice;
                events {}
                http {
                  \(temporary.joined(separator: " ")) access_log off;
                  server {
                    listen 127.0.0.1:\(port) ssl;
                    ssl_certificate \(certificates.file("good.pem").path);
                    ssl_certificate_key \(certificates.file("good.key").path);
                    ssl_client_certificate \(certificates.authority.path); ssl_verify_client on;
                    location / {
                      proxy_pass http://127.0.0.1:\(server.child.port);
                      proxy_set_header X-Client-Name $ssl_client_s_dn;
                    }
                  }
                }
                """
        } _: { folder, _ in
            ["nginx", "-p", folder.path, "-e", "stderr", "-c", "configuration"]
        }
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        configuration.clientIdentity = try ClientIdentity(
            certificateFile: certificates.file("client-a.crt"), keyFile: certificates.file("client-a.key"))
        var endpoints = OAuthServer(tokenEndpoint: try server.url("/token"))
        endpoints.mutualTLSEndpoints = [
            "token_endpoint": try #require(URL(string: "https://localhost:\(proxy.port)/token"))
        ]
        let client = OAuthClient(
            id: "certified", server: endpoints, authentication: .mutualTLS,
            session: Session(configuration: configuration))
        #expect(try await client.clientCredentials().type == "Bearer")
        withExtendedLifetime(proxy) {}
    }
}

/// The parameters of a URL.
func query(_ url: URL) -> [String: String] {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
}

/// Expects that the server refuses a request with a code.
func expect(
    refusedWith code: OAuthErrorResponse.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("It succeeded.", sourceLocation: sourceLocation)
    } catch let error as OAuthError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
}
