import AfarTesting
import Foundation
import HTTPTypes
import TestServers
import TestSupport
import Testing

@testable import AfarStages

/// Responses to Digest challenges (RFC 7616).
struct DigestAuthenticationTests {
    private func challenge(_ text: String) -> AuthenticationChallenge? {
        AuthenticationChallenge.challenges(in: [text]).first
    }

    private func md5(_ text: String) -> String { HashFunction.md5.hexDigest(of: text) ?? "" }

    private func sha256(_ text: String) -> String { HashFunction.sha256.hexDigest(of: text) ?? "" }

    /// Returns the parameters of a response, as parsed by a server.
    private func answer(
        _ text: String, user: String = "Mufasa", password: String = "Circle of Life", method: String = "GET",
        uri: String = "/dir/index.html", cnonce: String = "0a4f113b", body: String = ""
    ) throws -> [String: String] {
        let challenge = try #require(challenge(text).flatMap(DigestChallenge.init))
        let response = DigestResponse(
            challenge: challenge, method: method, uri: uri, user: user, password: password, cnonce: cnonce,
            bodyHash: challenge.algorithm.hexDigest(of: body) ?? "")
        let authorization = try #require(response.authorization)
        let read = try #require(self.challenge(authorization))
        #expect(read.scheme == "digest")
        return read.parameters
    }

    // MARK: Vectors

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func theExamplesOfRFC7616(algorithm: String, response: String) throws {
        let answer = try answer(
            """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """, cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(answer["response"] == response)
        #expect(answer["username"] == "Mufasa" && answer["realm"] == "http-auth@example.org")
        #expect(answer["uri"] == "/dir/index.html" && answer["nc"] == "00000001" && answer["qop"] == "auth")
        #expect(answer["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
        #expect(answer["algorithm"] == algorithm)
    }

    @Test func theExampleOfRFC2617() throws {
        let answer = try answer(
            """
            Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
            opaque="5ccc069c403ebaf9f0171e9517f40e41"
            """, password: "Circle Of Life")
        #expect(answer["response"] == "6629fae49393a05397450978507c4ef1")
        #expect(answer["algorithm"] == nil)
    }

    /// The example as corrected in the errata.
    @Test func theExampleOfRFC2069() throws {
        let answer = try answer(
            """
            Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
            opaque="5ccc069c403ebaf9f0171e9517f40e41"
            """, password: "CircleOfLife")
        #expect(answer["response"] == "1949323746fe6a43ef61f9606e7febea")
        #expect(answer["qop"] == nil && answer["nc"] == nil && answer["cnonce"] == nil)
    }

    /// The formulas of RFC 7616, section 3.4.
    @Test(arguments: ["MD5", "SHA-256"])
    func sessionsAndBodies(algorithm: String) throws {
        let hash = algorithm == "MD5" ? md5 : sha256
        let answer = try answer(
            "Digest realm=r, nonce=n, qop=auth-int, algorithm=\(algorithm)-sess", user: "ada", password: "p",
            method: "POST", uri: "/a?b=c", cnonce: "x", body: "body")
        let secret = hash(hash("ada:r:p") + ":n:x")
        #expect(
            answer["response"] == hash("\(secret):n:00000001:x:auth-int:" + hash("POST:/a?b=c:" + hash("body"))))
        #expect(answer["qop"] == "auth-int" && answer["algorithm"] == "\(algorithm)-sess")
    }

    @Test func theUserNameCanBeHashed() throws {
        let answer = try answer("Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256, userhash=true", user: "ada")
        #expect(answer["username"] == sha256("ada:r"))
        #expect(answer["userhash"] == "true")
        let secret = sha256("ada:r:Circle of Life")
        let request = sha256("GET:/dir/index.html")
        #expect(answer["response"] == sha256("\(secret):n:00000001:0a4f113b:auth:\(request)"))
    }

    @Test func charactersAreNormalizedForUTF8() throws {
        let utf8 = try answer(
            "Digest realm=r, nonce=n, qop=auth, charset=UTF-8", user: "e\u{301} \"", password: "e\u{301}")
        #expect(utf8["username*"] == "UTF-8''%C3%A9%20%22" && utf8["username"] == nil)
        let secret = md5("\u{E9} \":r:\u{E9}")
        let request = md5("GET:/dir/index.html")
        #expect(utf8["response"] == md5("\(secret):n:00000001:0a4f113b:auth:\(request)"))
        let plain = try answer("Digest realm=r, nonce=n, qop=auth", user: "\u{E9}")
        #expect(plain["username"] == "\u{E9}")
    }

    @Test func quotesAreEscapedButHashedUnescaped() throws {
        let answer = try answer(
            #"Digest realm="a \"b\" \\ c", nonce="n\"", qop=auth, opaque="\"""#, user: #"a"\b"#)
        #expect(answer["realm"] == #"a "b" \ c"# && answer["nonce"] == "n\"" && answer["opaque"] == "\"")
        #expect(answer["username"] == #"a"\b"#)
        let secret = md5(#"a"\b:a "b" \ c:Circle of Life"#)
        let request = md5("GET:/dir/index.html")
        #expect(answer["response"] == md5("\(secret):n\":00000001:0a4f113b:auth:\(request)"))
    }

    // MARK: Unsupported challenges

    @Test(arguments: [
        "Digest", "Digest nonce=n", "Digest realm=r", "Digest realm=r, nonce=n, algorithm=SHA-512-256, qop=auth",
        "Digest realm=r, nonce=n, algorithm=X", "Digest realm=r, nonce=n, algorithm=SHA-1, qop=auth",
        "Digest realm=r, nonce=n, algorithm=SHA-1-sess, qop=auth", "Digest realm=r, nonce=n, qop=other",
        #"Digest realm=r, nonce=n, qop="""#,
        "Digest realm=r, nonce=n, algorithm=MD5-sess", "Digest realm=\"r\u{0}\", nonce=n",
        "Digest realm=r, nonce=\"n\u{1}\"",
        "Digest realm=r, nonce=n, opaque=\"\u{85}\"",
        "Digest realm=\"\(String(repeating: "r", count: 5000))\", nonce=n",
    ])
    func aChallengeWithUnknownValuesIsIgnored(text: String) {
        #expect(challenge(text).flatMap(DigestChallenge.init) == nil)
    }

    // MARK: Unavailable hash functions

    #if os(Linux)
        @Test(arguments: [HashFunction.md5, .sha256])
        func aChallengeWithAnUnavailableAlgorithmIsIgnored(algorithm: HashFunction) throws {
            let scheme = DigestAuthentication(algorithm)
            let text = "Digest realm=r, nonce=n, algorithm=\(algorithm.rawValue), qop=auth"
            let challenge = try #require(self.challenge(text))
            #expect(scheme.accepts(challenge))
            #expect(!(try withoutHashFunctions { scheme.accepts(challenge) }))
            #expect(scheme.accepts(challenge))
        }

        @Test func theNextSchemeIsUsedInsteadOfDigest() throws {
            let head = ResponseHead(
                status: 401,
                fields: [.wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth, Basic realm=r"], url: "http://one/")
            func scheme() throws -> Substring? {
                let hop = Hop(try exchange())
                let run = try #require(AuthenticationStage().begin(hop))
                guard case .now(.follow(let next, _)) = run.head(head, of: hop) else { return nil }
                return next.request.headerFields[.authorization]?.prefix { $0 != " " }
            }
            #expect(try scheme() == "Digest")
            #expect(try withoutHashFunctions { try scheme() } == "Basic")
        }

        /// The hash function fails after the challenge was accepted.
        @Test(arguments: [
            "qop=auth", "qop=auth-int", "qop=auth, userhash=true", "qop=auth, algorithm=MD5-sess", "opaque=x",
        ])
        func aFailedHashIsAnError(parameters: String) throws {
            let challenge = try #require(self.challenge("Digest realm=r, nonce=n, \(parameters)"))
            var exchange = try self.exchange(.post, body: .data(Data("body".utf8)))
            let error = try withoutHashFunctions {
                #expect(throws: TransportError.self) {
                    try DigestAuthentication(.md5).answer(challenge, user: "ada", password: "secret", in: &exchange)
                }
            }
            #expect(error?.code == .invalidCredential && error?.message.contains("MD5") == true)
            #expect(exchange.request.headerFields[.authorization] == nil)
        }
    #endif

    // MARK: The stage

    /// Creates a transport that accepts any Digest response.
    private func locked(_ challenges: String...) -> MockTransport {
        MockTransport { request in
            guard request["Authorization"] == nil else { return .text("in") }
            return .challenge(challenges.joined(separator: ", "))
        }
    }

    private func exchange(_ method: HTTPRequest.Method = .get, body: RequestBody = .none) throws -> Exchange {
        var exchange = try Exchange.to("http://one/a%20b?c=%22d%22", method, body: body)
        exchange.policies.credential = Credential(
            user: "ada", password: "secret", origin: Origin(exchange.request))
        return exchange
    }

    private func lastAnswer(_ mock: MockTransport) throws -> AuthenticationChallenge {
        let header = mock.requests.last.flatMap { $0["Authorization"] }
        return try #require(challenge(header ?? ""))
    }

    @Test func theStrongestChallengeIsUsed() async throws {
        let mock = locked(
            "Basic realm=r", "NTLM", "Negotiate", "Digest realm=r, nonce=a, qop=auth",
            "Digest realm=r, nonce=b, qop=auth, algorithm=SHA-512-256",
            "Digest realm=r, nonce=c, qop=auth, algorithm=sha-256")
        #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange()).text == "in")
        let answer = try lastAnswer(mock)
        #expect(answer.parameters["nonce"] == "c" && answer.parameters["algorithm"] == "sha-256")
        #expect(answer.parameters["uri"] == "/a%20b?c=%22d%22")
    }

    @Test func aBodyInMemoryOrAFileIsHashed() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "digest-\(UUID().uuidString)")
        try Data("body".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for body in [RequestBody.data(Data("body".utf8)), .file(file)] {
            let mock = locked("Digest realm=r, nonce=n, qop=auth-int")
            let exchange = try exchange(.post, body: body)
            #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange).text == "in")
            let answer = try lastAnswer(mock).parameters
            let request = md5("POST:/a%20b?c=%22d%22:\(md5("body"))")
            let secret = md5("ada:r:secret")
            let cnonce = try #require(answer["cnonce"])
            #expect(answer["response"] == md5("\(secret):n:00000001:\(cnonce):auth-int:\(request)"))
        }
    }

    @Test func aStreamOrAMissingFileCannotBeHashed() async throws {
        let stream = RequestBodyStream(isReplayable: true) {
            let rest = Locked([Data("body".utf8)])
            return { rest.withLock { $0.popLast() } }
        }
        let mock = locked("Digest realm=r, nonce=n, qop=auth-int")
        let exchange = try exchange(.post, body: .stream(stream))
        let error = await transportFailure { _ = try await StagedTransport(mock, AuthenticationStage()).send(exchange) }
        #expect(error?.code == .invalidCredential)
        #expect(error?.message.contains("auth-int") == true)
        #expect(mock.requests.count == 1)
    }

    @Test func cnoncesDiffer() async throws {
        var nonces: Set<String> = []
        for _ in 0..<20 {
            let mock = locked("Digest realm=r, nonce=n, qop=auth")
            _ = try await StagedTransport(mock, AuthenticationStage()).send(exchange())
            let answer = try lastAnswer(mock)
            nonces.insert(try #require(answer.parameters["cnonce"]))
        }
        #expect(nonces.count == 20)
        #expect(nonces.allSatisfy { $0.count == 32 })
    }

    // MARK: Stale nonces

    /// Creates a transport that responds with these challenges in turn and then with a body.
    private func server(_ challenges: String...) -> MockTransport {
        let rest = Locked(challenges)
        return MockTransport { _ in
            guard let next = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return .text("in") }
            return .challenge(next)
        }
    }

    @Test func aStaleNonceIsReplacedOnce() async throws {
        let mock = server(
            "Digest realm=r, nonce=a, qop=auth", "Digest realm=r, nonce=b, qop=auth, stale=TRUE")
        #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange()).text == "in")
        #expect(mock.requests.count == 3)
        #expect(try lastAnswer(mock).parameters["nonce"] == "b")
        #expect(try lastAnswer(mock).parameters["nc"] == "00000001")
        for request in mock.requests { #expect(request.exchange.policies.answeredChallenge == nil) }
    }

    @Test(arguments: [
        "Digest realm=r, nonce=b, qop=auth", "Digest realm=r, nonce=b, qop=auth, stale=false",
        "Digest realm=r, nonce=a, qop=auth, stale=true", "Digest realm=other, nonce=b, qop=auth, stale=true",
        "Basic realm=r, stale=true", "Digest realm=r, nonce=b, qop=auth, stale=true, algorithm=SHA-256",
    ])
    func aRepeatedChallengeThatIsNotStaleIsFinal(second: String) async throws {
        let mock = server("Digest realm=r, nonce=a, qop=auth", second)
        #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange()).head.status == 401)
        #expect(mock.requests.count == 2)
    }

    @Test func alwaysStaleNoncesEndTheAttempts() async throws {
        let count = Locked(0)
        let mock = MockTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .challenge("Digest realm=r, nonce=n\(number), qop=auth, stale=true")
        }
        #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange()).head.status == 401)
        #expect(mock.requests.count == 3)
    }
}
