import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

/// The order of the credential sources, and the handling of malicious challenges.
struct CredentialSourceTests {
    private struct Broken: Error {}

    private static let both = "Basic realm=r, Digest realm=r, nonce=n, qop=auth"

    private func locked(_ challenge: String = both) -> MockTransport {
        MockTransport { $0["Authorization"] == nil ? .challenge(challenge) : .text("in") }
    }

    private func exchange(withCredential: Bool = false) throws -> Exchange {
        var exchange = try Exchange.to("http://one/")
        if withCredential {
            exchange.policies.credential = Credential(
                user: "own", password: "secret", origin: Origin(exchange.request))
        }
        return exchange
    }

    private func user(_ mock: MockTransport) -> String? {
        guard let header = mock.requests.last?["Authorization"] ?? nil else { return nil }
        return AuthenticationChallenge.challenges(in: [header]).first?.parameters["username"]
    }

    // MARK: Order

    @Test func aProviderIsCalledForRequestsWithoutACredential() async throws {
        let (mock, requested) = (locked(), Log())
        let stage = AuthenticationStage { url, challenge in
            requested.append("\(url) \(challenge.scheme)")
            return ("provided", "p")
        }
        #expect(try await StagedTransport(mock, stage).send(exchange()).text == "in")
        #expect(user(mock) == "provided")
        #expect(requested.entries == ["http://one/ digest"])
    }

    @Test func theRequestsCredentialTakesPrecedence() async throws {
        let (mock, requested) = (locked(), Log())
        let stage = AuthenticationStage { _, _ in
            requested.append("asked")
            return ("provided", "p")
        }
        _ = try await StagedTransport(mock, stage).send(exchange(withCredential: true))
        #expect(user(mock) == "own")
        #expect(requested.entries.isEmpty)
    }

    @Test func theProviderIsCalledAfterTheHandler() async throws {
        let (mock, requested) = (locked(), Log())
        let stage = AuthenticationStage { _, challenge in
            requested.append("provider \(challenge.scheme)")
            return ("provided", "p")
        }
        var exchange = try exchange()
        exchange.policies.challengeHandler = { _, challenge, _ in
            requested.append("handler \(challenge.scheme)")
            return challenge.scheme == "digest" ? .reject : .standard
        }
        _ = try await StagedTransport(mock, stage).send(exchange)
        #expect(requested.entries == ["handler digest", "handler basic", "provider basic"])
        #expect(mock.requests.last?["Authorization"] == "Basic cHJvdmlkZWQ6cA==")
    }

    @Test func aProviderCanDeclineEachScheme() async throws {
        let (mock, requested) = (locked(Self.both + ", NTLM, Negotiate"), Log())
        let stage = AuthenticationStage(features: .connectionAuthentication) { _, challenge in
            requested.append(challenge.scheme)
            return nil
        }
        #expect(try await StagedTransport(mock, stage).send(exchange()).head.status == 401)
        #expect(requested.entries == ["negotiate", "digest", "ntlm", "basic"])
        #expect(mock.requests.count == 1)
    }

    @Test func aProviderIsNotCalledAgainAfterARejection() async throws {
        let (mock, requested) = (MockTransport { _ in .challenge(Self.both) }, Log())
        let stage = AuthenticationStage { _, _ in
            requested.append("asked")
            return ("provided", "p")
        }
        #expect(try await StagedTransport(mock, stage).send(exchange()).head.status == 401)
        #expect(requested.entries.count == 1)
        #expect(mock.requests.count == 2)
    }

    @Test func aProvidersErrorFailsTheExchange() async throws {
        let mock = locked()
        let (stage, exchange) = (AuthenticationStage { _, _ in throw Broken() }, try exchange())
        let error = await transportFailure { _ = try await StagedTransport(mock, stage).send(exchange) }
        #expect(error?.code == .invalidCredential)
        #expect(error?.underlying is Broken)
        #expect(mock.requests.count == 1)
    }

    // MARK: Connection-bound schemes

    /// A transport that authenticates connections.
    private struct Binding: Transport {
        let base: MockTransport
        let seen = Locked<ConnectionAuthentication?>(nil)

        var capabilities: TransportCapabilities {
            var capabilities = base.capabilities
            capabilities.features.insert(.connectionAuthentication)
            return capabilities
        }

        func send(_ exchange: Exchange) async throws -> TransportResponse {
            guard let authentication = exchange.options.connectionAuthentication else {
                return try await base.send(exchange)
            }
            #expect(exchange.request.headerFields[.authorization] == nil)
            #expect(exchange.options.defaultFields.fields[.authorization] == nil)
            seen.withLock { $0 = authentication }
            var plain = exchange
            plain.context = ExchangeContext()
            plain.options.connectionAuthentication = nil
            plain.request.headerFields[.authorization] = "bound"
            return try await base.send(plain)
        }
    }

    @Test func aUserSelectsNTLMAndNoUserSelectsNegotiate() async throws {
        for (user, scheme) in [("WORK\\ada", ConnectionAuthentication.Scheme.ntlm), ("", .negotiate)] {
            let transport = Binding(
                base: MockTransport { $0["Authorization"] == "bound" ? .text("in") : .challenge("Negotiate, NTLM") })
            let stage = AuthenticationStage(features: .connectionAuthentication) { _, _ in
                (user, user.isEmpty ? "" : "s3cret-word")
            }
            var exchange = try exchange()
            var defaults = HTTPFields()
            defaults[.authorization] = "Bearer default"
            exchange.options.defaultFields = DefaultFields(defaults)
            #expect(try await StagedTransport(transport, stage).send(exchange).text == "in")
            let seen = try #require(transport.seen.withLock { $0 })
            #expect(seen.scheme == scheme && seen.user == user)
        }
    }

    /// Other requests would share the connection, so the next weaker scheme is used.
    @Test(arguments: [ExchangeOptions.HTTPVersion.http2PriorKnowledge, .http3])
    func aSharedConnectionIsNotAuthenticated(
        version: ExchangeOptions.HTTPVersion
    ) async throws {
        let basic = "Basic \(Data("ada:p".utf8).base64EncodedString())"
        let mock = MockTransport {
            $0["Authorization"] == basic ? .text("in") : .challenge("Negotiate, NTLM, Basic realm=\"r\"")
        }
        let transport = Binding(base: mock)
        let stage = AuthenticationStage(features: .connectionAuthentication) { _, _ in ("ada", "p") }
        var exchange = try exchange()
        exchange.options.httpVersion = version
        #expect(try await StagedTransport(transport, stage).send(exchange).text == "in")
        #expect(transport.seen.withLock { $0 == nil })
    }

    /// If code copies the options to another exchange, the credential isn't sent to a different origin.
    @Test func theCredentialOfAConnectionIsForItsOrigin() throws {
        var exchange = try Exchange.to("http://one/")
        exchange.options.connectionAuthentication = ConnectionAuthentication(
            .ntlm, user: "ada", password: "p", origin: Origin(exchange.request))
        #expect(exchange.connectionAuthentication?.user == "ada")
        var other = try Exchange.to("http://two/")
        other.options = exchange.options
        #expect(other.connectionAuthentication?.user == nil)
        #expect(!other.requiredFeatures.contains(.connectionAuthentication))
        exchange.request.authority = "one:8080"
        #expect(exchange.connectionAuthentication?.user == nil)
    }

    @Test func unsupportedConnectionSchemesAreSkippedOrRejected() async throws {
        let mock = locked("Negotiate, NTLM")
        let stage = AuthenticationStage { _, _ in ("ada", "p") }
        #expect(try await StagedTransport(mock, stage).send(exchange()).head.status == 401)
        var exchange = try exchange()
        exchange.options.connectionAuthentication = ConnectionAuthentication(
            .ntlm, user: "a", password: "b", origin: Origin(exchange.request))
        #expect(exchange.requiredFeatures.contains(.connectionAuthentication))
        let error = await transportFailure { [exchange] in try mock.capabilities.check(exchange) }
        #expect(error?.code == .unsupportedByTransport)
    }

    @Test func descriptionsContainNoPassword() throws {
        var exchange = try Exchange.to("http://one/")
        exchange.policies.credential = Credential(
            user: "ada", password: "s3cret-word", origin: Origin(exchange.request))
        exchange.options.connectionAuthentication = ConnectionAuthentication(
            .ntlm, user: "ada", password: "s3cret-word", origin: Origin(exchange.request))
        exchange.policies.answeredChallenge = AnsweredChallenge(
            challenge: try #require(AuthenticationChallenge.challenges(in: ["Basic realm=r"]).first), scheme: 0,
            user: "ada",
            password: "s3cret-word", isRenewal: false)
        var text = "\(exchange) " + String(reflecting: exchange)
        dump(exchange, to: &text)
        #expect(!text.contains("s3cret-word"))
    }

    // MARK: Malicious challenges

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            String(repeating: "Digest realm=r, nonce=n, algorithm=X, ", count: 10_000),
            String(repeating: "Digest realm=r, nonce=n, qop=x, ", count: 10_000),
            "Digest nonce=n, realm=\"" + String(repeating: "x", count: 1 << 20) + "\"",
            "Digest realm=r, nonce=\"" + String(repeating: "\\\"", count: 1 << 19) + "\"",
            "Digest realm=r, nonce=n, qop=unknown",
            "Digest realm=r, nonce=n, algorithm=SHA-1024", "Digest " + String(repeating: "a=b,", count: 100_000),
        ])
    func aHostileChallengeReturnsItsResponse(challenge: String) async throws {
        let mock = MockTransport { _ in .challenge(challenge) }
        let requested = Log()
        let stage = AuthenticationStage(features: .connectionAuthentication) { _, challenge in
            requested.append(challenge.scheme)
            return ("ada", "p")
        }
        #expect(try await StagedTransport(mock, stage).send(exchange()).head.status == 401)
        #expect(requested.entries.isEmpty)
        #expect(mock.requests.count == 1)
    }

    @Test func theProviderIsCalledOncePerScheme() async throws {
        let challenge = String(repeating: Self.both + ", Negotiate, NTLM, ", count: 10_000)
        let (mock, requested) = (MockTransport { _ in .challenge(challenge) }, Log())
        let stage = AuthenticationStage(features: .connectionAuthentication) { _, challenge in
            requested.append(challenge.scheme)
            return nil
        }
        #expect(try await StagedTransport(mock, stage).send(exchange()).head.status == 401)
        #expect(requested.entries == ["negotiate", "digest", "ntlm", "basic"])
    }

    @Test(arguments: [("a\r\nX: y", "p"), ("a", "p\n"), ("a\u{0}", "p")])
    func everySchemeRejectsControlCharacters(user: String, password: String) async throws {
        for challenge in ["Digest realm=r, nonce=n", "NTLM", "Basic realm=r"] {
            let transport = Binding(base: locked(challenge))
            let stage = AuthenticationStage(features: .connectionAuthentication) { _, _ in (user, password) }
            let exchange = try exchange()
            let error = await transportFailure { _ = try await StagedTransport(transport, stage).send(exchange) }
            #expect(error?.code == .invalidCredential, "\(challenge)")
            #expect(transport.base.requests.count == 1)
        }
    }
}
