import Afar
import AfarTestServer
import Foundation
import TestServers
import Testing

@testable import AfarOAuth

/// The authorization code flow without a browser.
@Suite(.timeLimit(.minutes(2)))
struct AuthorizationTests {
    /// The example of RFC 7636, appendix B.
    @Test func theChallengeIsThatOfTheRFC() throws {
        let bytes: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214,
            191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
        ]
        let verifier = CodeVerifier(text: Data(bytes).base64URLEncoded)
        #expect(verifier.text == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(try verifier.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(CodeVerifier().text.utf8.count == 43)
        #expect(Set((0..<100).map { _ in CodeVerifier().text }).count == 100)
    }

    /// A server whose token endpoint records its forms.
    private static func server(
        issuer: String? = nil, sendsIssuer: Bool = false
    ) async throws -> (TestServer, OAuthClient, Locked<[[String: String]]>) {
        let server = try await TestServer.start()
        let forms = Locked<[[String: String]]>([])
        server.route("/token") { request in
            forms.withLock { $0.append(formMembers(request)) }
            return try .json(["access_token": "a", "token_type": "Bearer"])
        }
        server.route("/par") { request in
            forms.withLock { $0.append(formMembers(request)) }
            return try .json(["request_uri": "urn:ietf:params:oauth:request_uri:6esc"], status: 201)
        }
        var endpoints = OAuthServer(
            tokenEndpoint: server.url("/token"), authorizationEndpoint: server.url("/authorize?tenant=1"),
            issuer: issuer)
        endpoints.pushedAuthorizationRequestEndpoint = server.url("/par")
        endpoints.sendsIssuerInRedirects = sendsIssuer
        return (server, OAuthClient(id: "client", server: endpoints, session: Session()), forms)
    }

    private static let redirectURI = "https://app.example/callback"

    private static func redirect(_ query: String, to base: String = redirectURI) throws -> URL {
        try #require(URL(string: "\(base)?\(query)"))
    }

    @Test func aRedirectIsExchangedForAToken() async throws {
        let (server, client, forms) = try await Self.server()
        let redirectURI = try #require(URL(string: Self.redirectURI))
        let resource = try #require(URL(string: "https://api.example/v1"))
        let authorization = try await client.authorization(
            redirectURI: redirectURI, scope: "a b", resources: [resource], parameters: ["prompt": "login"])
        let sent = query(authorization.url)
        #expect(sent["tenant"] == "1")
        #expect(sent["client_id"] == "client")
        #expect(sent["scope"] == "a b")
        #expect(sent["resource"] == "https://api.example/v1")
        #expect(sent["prompt"] == "login")
        #expect(sent["code_challenge_method"] == "S256")
        #expect(sent["state"]?.utf8.count == 43)
        let url = try Self.redirect("code=x%2By&state=\(sent["state"] ?? "")")
        _ = try await authorization.token(redirectedTo: url)
        let form = try #require(forms.withLock { $0 }.first)
        #expect(form["code"] == "x+y")
        #expect(form["redirect_uri"] == Self.redirectURI)
        #expect(form["resource"] == "https://api.example/v1")
        #expect(try CodeVerifier(text: form["code_verifier"] ?? "").challenge == sent["code_challenge"])
        let error = await #expect(throws: OAuthError.self) { _ = try await authorization.token(redirectedTo: url) }
        guard case .redirectMismatch = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(forms.withLock { $0 }.count == 1)
        await server.stop()
    }

    @Test func aRedirectOfAnotherAuthorizationIsRefused() async throws {
        let (server, client, forms) = try await Self.server(issuer: "https://as.example", sendsIssuer: true)
        let redirectURI = try #require(URL(string: Self.redirectURI))
        let authorization = try await client.authorization(redirectURI: redirectURI)
        let state = try #require(query(authorization.url)["state"])
        let issuer = "iss=https%3A%2F%2Fas.example"
        let urls = [
            try Self.redirect("code=c&state=\(state)x&\(issuer)"), try Self.redirect("code=c&state=&\(issuer)"),
            try Self.redirect("code=c&\(issuer)"), try Self.redirect("code=c&state=\(state)&state=\(state)&\(issuer)"),
            try Self.redirect("code=c&code=d&state=\(state)&\(issuer)"), try Self.redirect("state=\(state)&\(issuer)"),
            try Self.redirect("code=&state=\(state)&\(issuer)"), try Self.redirect("code=c&state=\(state)"),
            try Self.redirect("code=c&state=\(state)&iss=https%3A%2F%2Fevil.example"),
            try Self.redirect("error=access_denied&state=\(state)&iss=https%3A%2F%2Fevil.example"),
            try Self.redirect("error=access_denied&\(issuer)"),
            try Self.redirect("code=c&state=\(state)&\(issuer)", to: "https://app.example/callback/2"),
            try Self.redirect("code=c&state=\(state)&\(issuer)", to: "https://app.example:8443/callback"),
            try Self.redirect("code=c&state=\(state)&\(issuer)", to: "http://app.example/callback"),
            try Self.redirect("code=c&state=\(state)&\(issuer)", to: "https://app.example.evil/callback"),
            try #require(URL(string: "\(Self.redirectURI)#code=c&state=\(state)&\(issuer)")),
        ]
        for url in urls {
            let error = await #expect(throws: OAuthError.self, "\(url)") {
                _ = try await authorization.token(redirectedTo: url)
            }
            switch error {
            case .redirectMismatch, .issuerMismatch: break
            default: Issue.record("\(url): \(String(describing: error))")
            }
            #expect(error?.localizedDescription.contains(state) == false)
        }
        #expect(forms.withLock { $0 }.isEmpty)
        _ = try await authorization.token(redirectedTo: Self.redirect("code=c&state=\(state)&\(issuer)"))
        await server.stop()
    }

    @Test func theServerMustSupportS256() async throws {
        let (server, client, _) = try await Self.server()
        let redirectURI = try #require(URL(string: Self.redirectURI))
        for (methods, isSupported) in [(["plain"], false), ([], false), (["plain", "S256"], true)] {
            var endpoints = client.server
            endpoints.codeChallengeMethods = methods
            let client = OAuthClient(id: "client", server: endpoints, session: Session())
            do throws(OAuthError) {
                _ = try await client.authorization(redirectURI: redirectURI)
                #expect(isSupported)
            } catch {
                guard case .invalidMetadata = error, !isSupported else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
        await server.stop()
    }

    @Test func anAuthorizationCanBePushed() async throws {
        let (server, client, forms) = try await Self.server()
        let redirectURI = try #require(URL(string: Self.redirectURI))
        let authorization = try await client.authorization(redirectURI: redirectURI, scope: "a", isPushed: true)
        #expect(
            query(authorization.url) == [
                "tenant": "1", "client_id": "client", "request_uri": "urn:ietf:params:oauth:request_uri:6esc",
            ])
        let form = try #require(forms.withLock { $0 }.first)
        #expect(form["response_type"] == "code")
        #expect(form["client_id"] == "client")
        _ = try await authorization.token(redirectedTo: Self.redirect("code=c&state=\(form["state"] ?? "")"))
        await server.stop()
    }

    @Test func argumentsAreChecked() async throws {
        let (server, client, _) = try await Self.server()
        for text in ["http://app.example/callback", "https://app.example/callback#a", "callback"] {
            let url = try #require(URL(string: text))
            await #expect(throws: OAuthError.self) { _ = try await client.authorization(redirectURI: url) }
        }
        let redirectURI = try #require(URL(string: Self.redirectURI))
        for name in ["state", "redirect_uri", "code_challenge_method", "client_id"] {
            await #expect(throws: OAuthError.self) {
                _ = try await client.authorization(redirectURI: redirectURI, parameters: [name: "x"])
            }
        }
        await server.stop()
    }

    /// A web server stores the authorization until the browser returns.
    @Test func aStoredAuthorizationIsResumed() async throws {
        let server = try await TestServer.start()
        let forms = Locked<[[String: String]]>([])
        server.route("/token") { request in
            forms.withLock { $0.append(formMembers(request)) }
            return try .json(["access_token": "a", "token_type": "Bearer"])
        }
        func client(_ id: String) -> OAuthClient {
            var endpoints = OAuthServer(tokenEndpoint: server.url("/token"))
            endpoints.authorizationEndpoint = server.url("/authorize")
            return OAuthClient(id: id, server: endpoints, session: Session())
        }
        let redirectURI = try #require(URL(string: "https://app.example/callback"))
        let resource = try #require(URL(string: "https://api.example/"))
        let authorization = try await client("a").authorization(redirectURI: redirectURI, resources: [resource])
        let data = try JSONEncoder().encode(authorization.pending)
        let pending = try JSONDecoder().decode(OAuthPendingAuthorization.self, from: data)
        #expect(throws: OAuthError.self) { _ = try client("b").authorization(resuming: pending) }
        let resumed = try client("a").authorization(resuming: pending)
        #expect(resumed.url == authorization.url)
        let items = URLComponents(url: authorization.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let state = try #require(items.first { $0.name == "state" }?.value)
        let wrong = try #require(URL(string: "https://app.example/callback?code=c&state=x"))
        await #expect(throws: OAuthError.self) { _ = try await resumed.token(redirectedTo: wrong) }
        let redirect = try #require(URL(string: "https://app.example/callback?code=c&state=\(state)"))
        #expect(try await resumed.token(redirectedTo: redirect).accessToken == "a")
        let form = try #require(forms.withLock { $0.first })
        let challenge = items.first { $0.name == "code_challenge" }?.value
        #expect(try CodeVerifier(text: form["code_verifier"] ?? "").challenge == challenge)
        #expect(form["resource"] == resource.absoluteString)
        #expect(form["redirect_uri"] == redirectURI.absoluteString)
        for text in [
            "\(pending)", "\(String(reflecting: pending))", "\(Mirror(reflecting: pending).children.map(\.value))",
        ] {
            #expect(!text.contains(state) && !text.contains(form["code_verifier"] ?? ""))
        }
        await server.stop()
    }

    @Test func descriptionsContainNoSecrets() async throws {
        let (server, client, _) = try await Self.server()
        let authorization = try await client.authorization(redirectURI: try #require(URL(string: Self.redirectURI)))
        let state = try #require(query(authorization.url)["state"])
        var dumped = "\(authorization) \(String(reflecting: authorization))"
        dump(authorization, to: &dumped)
        #expect(!dumped.contains(state))
        let token = OAuthToken(
            accessToken: "secret-a", expirationDate: Date(), refreshToken: "secret-r", scope: "s", idToken: "secret-i",
            otherMembers: ["key": "secret-o"])
        let authentication = [
            OAuthClientAuthentication.basic(secret: "secret-b"), .post(secret: "secret-p"),
            .privateKeyJWT(try SignatureKey.generate(.ecdsaP256SHA256)),
        ]
        var text = "\(token) \(String(reflecting: token)) \(authentication) \(String(reflecting: authentication))"
        dump(token, to: &text)
        dump(authentication, to: &text)
        dump(
            OAuthClient(
                id: "a", server: client.server, authentication: authentication[0],
                dpop: OAuthDPoP(key: try SignatureKey.generate(.ecdsaP256SHA256)), session: client.session), to: &text,
            maxDepth: 3)
        #expect(!text.contains("secret-"))
        await server.stop()
    }
}
