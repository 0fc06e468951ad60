import Afar
import AfarTestServer
import Foundation
import TestServers
import Testing

@testable import AfarOAuth

/// Responses of authorization servers that are hostile, or differ from those of authlib.
@Suite(.timeLimit(.minutes(2)))
struct EndpointTests {
    private static func client(
        _ server: TestServer, _ authentication: OAuthClientAuthentication = .post(secret: "the-secret"),
        session: Session = Session()
    ) -> OAuthClient {
        var endpoints = OAuthServer(tokenEndpoint: server.url("/token"))
        endpoints.revocationEndpoint = server.url("/revoke")
        endpoints.deviceAuthorizationEndpoint = server.url("/device")
        return OAuthClient(id: "client", server: endpoints, authentication: authentication, session: session)
    }

    private static func answer(_ text: String, status: Int = 200, type: String = "application/json") -> ServerResponse {
        .content(type, Data(text.utf8), status: status)
    }

    @Test func membersOfAResponseAreRead() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in
            Self.answer(
                #"{"access_token":"a","token_type":"bEARER","expires_in":"60","scope":"s","id_token":"i","#
                    + #""number":7,"flag":true,"text":"t","list":[1],"object":{"a":1},"empty":null}"#)
        }
        let session = SkippingClock().session
        let token = try await Self.client(server, session: session).clientCredentials()
        #expect(token.type == "bEARER")
        #expect(token.idToken == "i")
        #expect(token.otherMembers == ["number": "7", "flag": "true", "text": "t"])
        #expect(token.expirationDate == session.configuration.timeSource.now.addingTimeInterval(60))
        #expect(token.lifetime == 60)
        await server.stop()
    }

    @Test(arguments: [
        "", "{", "[", "null", "[]", "\"a\"", "{\"token_type\":\"Bearer\"}", "{\"access_token\":\"a\"}",
        #"{"access_token":"","token_type":"Bearer"}"#, #"{"access_token":1,"token_type":"Bearer"}"#,
        #"{"access_token":"a\r\nX: y","token_type":"Bearer"}"#, #"{"access_token":"ä","token_type":"Bearer"}"#,
        #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a","token_type":"N_A"}"#,
        #"{"access_token":"a","token_type":"DPoP"}"#,
        #"{"access_token":"a","token_type":"Bearer","expires_in":-1}"#,
        #"{"access_token":"a","token_type":"Bearer","expires_in":"nan"}"#,
        #"{"access_token":"a","token_type":"Bearer","expires_in":{}}"#, String(repeating: "[", count: 100_000),
        String(repeating: "{\"a\":", count: 100_000) + String(repeating: "}", count: 100_000),
    ])
    func invalidResponsesAreRefused(_ text: String) async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in Self.answer(text) }
        let error = await #expect(throws: OAuthError.self) { _ = try await Self.client(server).clientCredentials() }
        guard case .invalidResponse = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await server.stop()
    }

    @Test func errorsWithTheStatus200AreErrors() async throws {
        let server = try await TestServer.start()
        for path in ["/token", "/device"] { server.route(path) { _ in Self.answer(#"{"error":"invalid_client"}"#) } }
        let client = Self.client(server)
        let tokenError = await #expect(throws: OAuthError.self) { _ = try await client.clientCredentials() }
        let deviceError = await #expect(throws: OAuthError.self) { _ = try await client.deviceAuthorization() }
        #expect(tokenError?.code == .invalidClient && deviceError?.code == .invalidClient)
        await server.stop()
    }

    @Test func emptyMembersAreAbsent() async throws {
        let server = try await TestServer.start()
        // An empty error is absent, too.
        for lifetime in ["null", "0", #"60,"error":"""#] {
            server.route("/token") { _ in
                Self.answer(
                    #"{"access_token":"a","token_type":"Bearer","refresh_token":"","scope":"","expires_in":"# + lifetime
                        + "}")
            }
            let token = try await Self.client(server).refresh(
                OAuthToken(accessToken: "old", refreshToken: "refresh", scope: "scope"))
            #expect(token.refreshToken == "refresh" && token.scope == "scope")
            #expect((token.expirationDate == nil) == !lifetime.hasPrefix("60"))
        }
        await server.stop()
    }

    @Test func aCanceledRequestReturnsACompleteObject() async throws {
        let object = #"{"access_token":"a","token_type":"Bearer","refresh_token":"rotated"}"#
        let length = String(object.utf8.count, radix: 16)
        let server = try await RawServer.start([
            .receiveHead,
            .send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .send("\(length)\r\n\(object)\r\n"),
            // The body doesn't end before the request is canceled.
            .repeat("1\r\n \r\n", every: 0.02, times: .max),
        ])
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
        let session = Session(eventMonitors: [monitor])
        let client = OAuthClient(
            id: "client", server: OAuthServer(tokenEndpoint: server.url), session: session)
        let task = Task { try await client.refresh(OAuthToken(accessToken: "old", refreshToken: "refresh")) }
        let count = Locked(0)
        monitor.dataTaskDidReceiveData = { _, _, _ in
            // By the second chunk, the first one has been consumed.
            if count.withLock({
                $0 += 1; return $0
            }) == 2 {
                task.cancel()
            }
        }
        #expect(try await task.value.refreshToken == "rotated")
        await server.stop()
    }

    @Test func aLostConnectionKeepsACompleteObject() async throws {
        let object = #"{"access_token":"a","token_type":"Bearer","refresh_token":"rotated"}"#
        let server = try await RawServer.start([
            .receiveHead,
            .send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n\(object)"),
            .halfClose,
        ])
        let client = OAuthClient(id: "client", server: OAuthServer(tokenEndpoint: server.url), session: Session())
        let token = try await client.refresh(OAuthToken(accessToken: "old", refreshToken: "refresh"))
        #expect(token.refreshToken == "rotated")
        await server.stop()
    }

    @Test func aPushedRequestNamesTheClient() async throws {
        let server = try await TestServer.start()
        let form = Locked<[String: String]>([:])
        server.route("/par") { request in
            form.withLock { $0 = formMembers(request) }
            return try .json(["request_uri": "urn:ietf:params:oauth:request_uri:1"], status: 201)
        }
        var endpoints = OAuthServer(
            tokenEndpoint: server.url("/token"), authorizationEndpoint: server.url("/authorize"))
        endpoints.pushedAuthorizationRequestEndpoint = server.url("/par")
        for authentication in [
            OAuthClientAuthentication.basic(secret: "the-secret"), .post(secret: "the-secret"), .none,
        ] {
            let client = OAuthClient(
                id: "client", server: endpoints, authentication: authentication, session: Session())
            let redirectURI = try #require(URL(string: "com.example.app:/callback"))
            _ = try await client.authorization(redirectURI: redirectURI, isPushed: true)
            #expect(form.withLock { $0["client_id"] } == "client")
        }
        await server.stop()
    }

    @Test func extremeLifetimesAreDates() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in
            Self.answer(#"{"access_token":"a","token_type":"Bearer","expires_in":1e300}"#)
        }
        let token = try await Self.client(server).clientCredentials()
        #expect(!token.isExpired(at: Date()))
        #expect(try JSONDecoder().decode(OAuthToken.self, from: JSONEncoder().encode(token)) == token)
        await server.stop()
    }

    @Test func otherTypesAndLargeResponsesAreRefused() async throws {
        let server = try await TestServer.start()
        let text = #"{"access_token":"a","token_type":"Bearer"}"#
        let responses = [
            Self.answer(text, type: "text/html"), Self.answer(text, status: 204), Self.answer(text, status: 500),
            Self.answer(text + String(repeating: " ", count: 2 << 20)),
            ServerResponse(status: 302, headers: ["Location": "\(server.url("/elsewhere"))"]),
            ServerResponse(status: 307, headers: ["Location": "\(server.url("/elsewhere"))"]),
        ]
        for response in responses {
            server.route("/token") { _ in response }
            await #expect(throws: OAuthError.self) { _ = try await Self.client(server).clientCredentials() }
        }
        #expect(server.requestCount(path: "/elsewhere") == 0)
        await server.stop()
    }

    @Test func errorsContainNoSecrets() async throws {
        let server = try await TestServer.start()
        server.route("/token") { request in
            try .json(
                [
                    "error": "invalid_grant",
                    "error_uri": "https://as.example/errors?t=\(formMembers(request)["refresh_token"] ?? "")",
                    "error_description":
                        "\(request.text ?? "") \(formMembers(request)["refresh_token"] ?? "")\u{1B}[31m \u{202E}\n",
                ], status: 400)
        }
        let token = OAuthToken(accessToken: "secret-access", refreshToken: "secret-refresh")
        let error = await #expect(throws: OAuthError.self) { _ = try await Self.client(server).refresh(token) }
        guard case .refused(let response) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(response.code == .invalidGrant)
        #expect(response.status == 400)
        for text in [error?.localizedDescription ?? "", String(describing: error), String(reflecting: error)] {
            #expect(!text.contains("secret-") && !text.contains("the-secret"), "\(text)")
            #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E }, "\(text)")
        }
        await server.stop()
    }

    @Test func logsContainNoSecrets() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in try .json(["access_token": "new-secret", "token_type": "Bearer"]) }
        let monitor = RecordingMonitor()
        let session = Session(eventMonitors: [monitor])
        _ = try await Self.client(server, session: session).refresh(
            OAuthToken(accessToken: "a", refreshToken: "secret-refresh"))
        _ = try await Self.client(server, .basic(secret: "the-secret"), session: session).clientCredentials()
        await monitor.finish()
        let text = monitor.text.withLock { $0 }
        #expect(text.contains("/token"))
        #expect(["secret-refresh", "new-secret", "the-secret"].allSatisfy { !text.contains($0) }, "\(text)")
        await server.stop()
    }

    @Test func secretsAreFormEncoded() async throws {
        let server = try await TestServer.start()
        let headers = Locked<[String]>([])
        server.route("/token") { request in
            headers.withLock { $0.append(request.headers["Authorization"] ?? "") }
            return try .json(["access_token": "a", "token_type": "Bearer"])
        }
        var client = Self.client(server, .basic(secret: "a:b c%ü&+"))
        client = OAuthClient(
            id: "id:1", server: client.server, authentication: client.authentication, session: client.session)
        _ = try await client.clientCredentials()
        let pair = headers.withLock { $0 }.first?.split(separator: " ").last.flatMap { Data(base64Encoded: String($0)) }
        // The secret's space is `+` or `%20`: both are decoded to a space.
        #expect(String(decoding: pair ?? Data(), as: UTF8.self) == "id%3A1:a%3Ab%20c%25%C3%BC%26%2B")
        await server.stop()
    }

    @Test func secretsAreNotSentWithoutTLS() async throws {
        let urls = [
            "http://as.example/token", "http://127.0.0.1.evil.example/token", "http://10.0.0.1/token",
            "http://localhost.example/token", "http://1270.0.0.1/token", "http://[::2]/token",
        ]
        for text in urls {
            let server = OAuthServer(tokenEndpoint: try #require(URL(string: text)))
            let client = OAuthClient(id: "a", server: server, authentication: .post(secret: "s"), session: Session())
            let error = await #expect(throws: OAuthError.self) { _ = try await client.clientCredentials() }
            guard case .insecureURL = error else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
        }
        for text in ["http://127.0.0.1:80/", "http://localhost/", "http://[::1]:9/", "https://as.example/"] {
            #expect(URL(string: text).flatMap { Origin($0) }?.isSecure() == true)
        }
    }

    /// A name of this machine doesn't stay on it if the network settings connect to another host.
    @Test func otherMachinesDoNotReceiveSecretsWithoutTLS() async throws {
        let server = try await TestServer.start()
        server.route("/token") { _ in try .json(["access_token": "a", "token_type": "Bearer"]) }
        server.route("/resource") { _ in .text("resource") }
        let port = try #require(server.url("/").port)
        // The first form of the address isn't recognized as one of this machine.
        for (target, isAccepted) in [("127.1:\(port)", false), ("127.0.0.1:\(port)", true)] {
            var configuration = SessionConfiguration.default
            var network = NetworkSettings()
            network.connectTo = ["localhost:80": target]
            configuration.network = network
            let session = Session(configuration: configuration)
            let endpoint = try #require(URL(string: "http://localhost/token"))
            let client = OAuthClient(
                id: "a", server: OAuthServer(tokenEndpoint: endpoint), authentication: .post(secret: "s"),
                session: session)
            let isSent = (try? await client.clientCredentials()) != nil
            #expect(isSent == isAccepted)
            let resource = try #require(URL(string: "http://localhost/resource"))
            let token = OAuthMemoryTokenStore(OAuthToken(accessToken: "a"))
            let interceptor = OAuthInterceptor(client: client, store: token, origins: [resource])
            let response = await session.request(resource, interceptor: interceptor).serializingString().response
            #expect((response.value == "resource") == isAccepted)
            // Settings of the request replace those of the session.
            let otherSession = Session()
            let own = otherSession.request(resource, interceptor: interceptor).options { $0.network = network }
            let value = await own.serializingString().response
            #expect((value.value == "resource") == isAccepted, "\(value)")
            #expect(server.requestCount == (isAccepted ? 3 : 0))
        }
        await server.stop()
    }

    @Test func proxiesDoNotReceiveSecretsWithoutTLS() async throws {
        let (server, proxy) = (try await TestServer.start(), try await TestServer.start())
        server.route("/token") { _ in try .json(["access_token": "a", "token_type": "Bearer"]) }
        var configuration = SessionConfiguration.default
        var network = NetworkSettings()
        network.proxies = ProxySettings(try Proxy(proxy.url("").absoluteString))
        configuration.network = network
        let session = Session(configuration: configuration)
        _ = try await Self.client(server, session: session).clientCredentials()
        #expect(server.requestCount == 1)
        #expect(proxy.connectionCount == 0)
        await server.stop()
        await proxy.stop()
    }

    @Test func parametersCannotReplaceThoseOfTheFlow() async throws {
        let server = try await TestServer.start()
        for name in ["grant_type", "client_id", "client_secret", "scope"] {
            await #expect(throws: OAuthError.self) {
                _ = try await Self.client(server).clientCredentials(scope: "a", parameters: [name: "x"])
            }
        }
        #expect(server.requestCount == 0)
        await server.stop()
    }

    @Test func canceledRequestsEnd() async throws {
        let server = try await TestServer.start()
        let arrived = AsyncStream<Void>.makeStream()
        server.route("/token") { _ in
            arrived.continuation.yield()
            try await Task.sleep(for: .seconds(600))
            return .text("late")
        }
        let client = Self.client(server)
        let task = Task { try await client.clientCredentials() }
        for await _ in arrived.stream { break }
        task.cancel()
        let error = await #expect(throws: OAuthError.self) { _ = try await task.value }
        guard case .cancelled = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await server.stop()
    }

    @Test func aTokenIsExchanged() async throws {
        let server = try await TestServer.start()
        let forms = Locked<[[String: String]]>([])
        server.route("/token") { request in
            forms.withLock { $0.append(formMembers(request)) }
            return try .json([
                "access_token": "assertion", "token_type": "N_A", "issued_token_type": OAuthTokenType.jwt.rawValue,
            ])
        }
        let token = try await Self.client(server).exchange(
            "subject", type: .idToken, actorToken: ("actor", .accessToken), requestedType: .jwt, audiences: ["b"],
            scope: "s")
        #expect(token.type == "N_A")
        #expect(token.issuedTokenType == OAuthTokenType.jwt.rawValue)
        let sent = try #require(forms.withLock { $0 }.first)
        #expect(sent["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange")
        #expect(sent["subject_token_type"] == OAuthTokenType.idToken.rawValue)
        #expect(sent["actor_token"] == "actor")
        #expect(sent["audience"] == "b")
        await server.stop()
    }

    @Test func otherGrantsAreRequested() async throws {
        let server = try await TestServer.start()
        let form = Locked<[String: String]>([:])
        server.route("/token") { request in
            form.withLock { $0 = formMembers(request) }
            return try .json(["access_token": "a", "token_type": "Bearer"])
        }
        let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        let api = try #require(URL(string: "https://api.example/v1"))
        let token = try await Self.client(server).requestToken(
            grantType: grant, scope: "s", resources: [api], parameters: ["assertion": "secret-assertion"])
        #expect(token.source?.clientID == "client")
        #expect(
            form.withLock { $0 } == [
                "grant_type": grant, "scope": "s", "resource": "https://api.example/v1",
                "assertion": "secret-assertion", "client_id": "client", "client_secret": "the-secret",
            ])
        server.route("/token") { request in
            try .json(["error": "invalid_grant", "error_description": request.text ?? ""], status: 400)
        }
        let error = await #expect(throws: OAuthError.self) {
            _ = try await Self.client(server).requestToken(
                grantType: grant, parameters: ["assertion": "secret-assertion", "otp": "secret-otp"])
        }
        #expect(error?.localizedDescription.contains("secret-") == false)
        for text in ["https://api.example/v1#a", "/v1"] {
            let resource = try #require(URL(string: text))
            let error = await #expect(throws: OAuthError.self) {
                _ = try await Self.client(server).clientCredentials(resources: [resource])
            }
            guard case .invalidArgument = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        await server.stop()
    }

    @Test func aClientAuthenticatesWithAnotherAssertion() async throws {
        let server = try await TestServer.start()
        let form = Locked<[String: String]>([:])
        server.route("/token") { request in
            form.withLock { $0 = formMembers(request) }
            return try .json(["error": "invalid_client", "error_description": request.text ?? ""], status: 401)
        }
        let count = Locked(0)
        let client = Self.client(
            server,
            .assertion {
                count.withLock { count in
                    count += 1
                    return "secret-assertion-\(count)"
                }
            })
        for number in 1...2 {
            let error = await #expect(throws: OAuthError.self) { _ = try await client.clientCredentials() }
            #expect(error?.code == .invalidClient && error?.localizedDescription.contains("secret-") == false)
            #expect(form.withLock { $0["client_assertion"] } == "secret-assertion-\(number)")
        }
        #expect(form.withLock { $0["client_id"] } == "client")
        #expect(
            form.withLock { $0["client_assertion_type"] } == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        let failing = Self.client(server, .assertion { throw URLError(.fileDoesNotExist) })
        let error = await #expect(throws: OAuthError.self) { _ = try await failing.clientCredentials() }
        guard case .invalidArgument = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await server.stop()
    }

    // MARK: Device codes

    @Test(arguments: [
        #"{"device_code":"d","user_code":"u","verification_uri":"javascript:alert(1)","expires_in":60}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"http://as.example/","expires_in":60}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"https://as.example/"}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"https://as.example/","expires_in":-1}"#,
        #"{"user_code":"u","verification_uri":"https://as.example/","expires_in":60}"#,
    ])
    func invalidDeviceCodesAreRefused(_ text: String) async throws {
        let server = try await TestServer.start()
        server.route("/device") { _ in Self.answer(text) }
        await #expect(throws: OAuthError.self) { _ = try await Self.client(server).deviceAuthorization() }
        await server.stop()
    }

    @Test func lostConnectionsSlowDownPolling() async throws {
        let server = try await TestServer.start()
        let clock = SkippingClock()
        server.route("/device") { _ in
            Self.answer(
                #"{"device_code":"d","user_code":"u\u001b\u009b\u202e","verification_uri":"https://as.example/","expires_in":60,"interval":0}"#
            )
        }
        let polls = Locked(0)
        server.route("/token") { _ in
            let poll = polls.withLock { polls in
                polls += 1
                return polls
            }
            if poll == 1 { return ServerResponse(length: 10) { _ in } }
            if poll == 2 { return .text("overloaded", status: 503) }
            if poll == 3 { return .text("too many requests", status: 429) }
            if poll == 4 { return Self.answer(#"{"error":"authorization_pending"}"#, status: 200) }
            return try .json(["access_token": "a", "token_type": "Bearer"])
        }
        let client = Self.client(server, session: clock.session)
        let authorization = try await client.deviceAuthorization()
        #expect(authorization.userCode == "u")
        #expect(authorization.verificationURIComplete == nil)
        _ = try await authorization.token()
        #expect(clock.delays.map { Int(($0 / .seconds(1)).rounded()) } == [1, 2, 4, 8, 8])
        await server.stop()
    }

    /// Only two error codes continue the polling (RFC 8628, section 3.5).
    @Test(arguments: [
        (#"{"error":"temporarily_unavailable"}"#, 503), (#"{"error":"invalid_client"}"#, 401),
        (#"{"error":"server_error"}"#, 500), ("not found", 404),
    ])
    func otherErrorsEndPolling(_ text: String, _ status: Int) async throws {
        let server = try await TestServer.start()
        server.route("/device") { _ in
            Self.answer(
                #"{"device_code":"d","user_code":"u","verification_uri":"https://as.example/","expires_in":60}"#)
        }
        server.route("/token") { _ in Self.answer(text, status: status) }
        let authorization = try await Self.client(server, session: SkippingClock().session).deviceAuthorization()
        await #expect(throws: OAuthError.self) { _ = try await authorization.token() }
        #expect(server.requestCount(path: "/token") == 1)
        await server.stop()
    }

    /// A server that doesn't speak HTTP won't do so later.
    @Test func otherFailuresOfARequestEndPolling() async throws {
        let server = try await TestServer.start()
        server.route("/device") { _ in
            Self.answer(
                #"{"device_code":"d","user_code":"u","verification_uri":"https://as.example/","expires_in":60}"#)
        }
        server.route("/token") { _ in ServerResponse(headers: ["Content-Length": "-1"]) }
        let clock = SkippingClock()
        let authorization = try await Self.client(server, session: clock.session).deviceAuthorization()
        let error = await #expect(throws: OAuthError.self) { _ = try await authorization.token() }
        guard case .requestFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(clock.delays.count == 1)
        await server.stop()
    }

    // MARK: Metadata

    @Test func aRetriedRequestHasOneBody() async throws {
        let server = try await TestServer.start()
        let count = Locked(0)
        let issuer = server.url("/").absoluteString
        server.route("/.well-known/oauth-authorization-server") { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            let body = Data(#"{"issuer":"\#(issuer)","token_endpoint":"https://as.example/token"}"#.utf8)
            // The first response ends before its end.
            return ServerResponse(
                headers: ["Content-Type": "application/json"], length: isFirst ? body.count + 1 : body.count
            ) { try $0.write(body) }
        }
        let clock = SkippingClock()
        var configuration = SessionConfiguration.default
        configuration.timeSource = clock.session.configuration.timeSource
        let session = Session(configuration: configuration, interceptor: .retryPolicy)
        let found = try await OAuthServer.discover(issuer: server.url("/"), session: session)
        #expect(found.tokenEndpoint?.host() == "as.example")
        #expect(count.withLock { $0 } == 2)
        await server.stop()
    }

    @Test func metadataLocationsAreThoseOfTheRFC() throws {
        func locations(_ text: String) throws -> [String] {
            OAuthServer.locations(of: try #require(URL(string: text))).map(\.absoluteString)
        }
        #expect(
            try locations("https://as.example/issuer1/") == [
                "https://as.example/.well-known/oauth-authorization-server/issuer1",
                "https://as.example/issuer1/.well-known/openid-configuration",
            ])
        #expect(
            try locations("https://as.example") == [
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ])
    }

    @Test func theOtherLocationOfMetadataIsUsed() async throws {
        let server = try await TestServer.start()
        let issuer = server.url("/")
        server.route("/.well-known/openid-configuration") { _ in
            Self.answer(#"{"issuer":"\#(issuer.absoluteString)","token_endpoint":"https://as.example/token"}"#)
        }
        let page = ServerResponse.content("text/html", Data("<html>".utf8))
        for response in [page, Self.answer("{}", status: 404), ServerResponse(status: 302, headers: ["Location": "/"])]
        {
            server.route("/.well-known/oauth-authorization-server") { _ in response }
            let found = try await OAuthServer.discover(issuer: issuer, session: Session())
            #expect(found.tokenEndpoint?.host() == "as.example")
        }
        let count = server.requestCount(path: "/.well-known/openid-configuration")
        server.route("/.well-known/oauth-authorization-server") { _ in .text("overloaded", status: 503) }
        let error = await #expect(throws: OAuthError.self) {
            _ = try await OAuthServer.discover(issuer: issuer, session: Session())
        }
        guard case .failed(503) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.requestCount(path: "/.well-known/openid-configuration") == count)
        await server.stop()
    }

    @Test func metadataIsChecked() async throws {
        let server = try await TestServer.start()
        let issuer = server.url("/tenant")
        func discover(_ text: String) async throws -> OAuthServer {
            server.route("/tenant/.well-known/openid-configuration") { _ in Self.answer(text) }
            return try await OAuthServer.discover(issuer: issuer, session: Session())
        }
        let valid = """
            {"issuer":"\(issuer.absoluteString)","token_endpoint":"https://as.example/token",
            "authorization_response_iss_parameter_supported":true,"require_pushed_authorization_requests":true,
            "jwks_uri":"https://as.example/keys","scopes_supported":["a"],
            "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.as.example/token","other":"mtls"}}
            """
        let found = try await discover(valid)
        #expect(found.tokenEndpoint?.absoluteString == "https://as.example/token")
        #expect(found.sendsIssuerInRedirects && found.requiresPushedAuthorizationRequests)
        #expect(found.mutualTLSEndpoints["token_endpoint"]?.host() == "mtls.as.example")
        #expect(found.revocationEndpoint == nil)
        #expect(found.jwksURI?.absoluteString == "https://as.example/keys")
        let members = try JSONSerialization.jsonObject(with: #require(found.metadata)) as? [String: Any]
        #expect(members?["scopes_supported"] as? [String] == ["a"])
        for text in [
            valid.replacing("/tenant", with: "/other"), valid.replacing("https://as", with: "http://as"),
            valid.replacing("https://as.example/token", with: "/token"), "{}", "[]", "",
            valid.replacing("https://mtls", with: "http://mtls"),
        ] {
            await #expect(throws: OAuthError.self, "\(text)") { _ = try await discover(text) }
        }
        for text in ["http://as.example", "https://as.example?a", "https://u@as.example", "ftp://as.example"] {
            let issuer = try #require(URL(string: text))
            await #expect(throws: OAuthError.self) {
                _ = try await OAuthServer.discover(issuer: issuer, session: Session())
            }
        }
        await server.stop()
    }
}

/// Records everything that a log could contain.
private final class RecordingMonitor: EventMonitor {
    let queue = DispatchQueue(label: "test.monitor")
    let text = Locked("")

    func receive(_ event: RequestEvent) {
        let line = "\(event) \(String(reflecting: event))"
        text.withLock { $0 += line }
        callMethod(for: event)
    }

    func requestDidFinish(_ request: Request) {
        let line = """
            \(request) \(String(reflecting: request)) \(request.cURLDescription(redactingSecrets: true))
            \(request.request.map { "\($0)" } ?? "") \(request.request?.httpBody.map { String(decoding: $0, as: UTF8.self) } ?? "")
            """
        text.withLock { $0 += line }
    }

    func finish() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
