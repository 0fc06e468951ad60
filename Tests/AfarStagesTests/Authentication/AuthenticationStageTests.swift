import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarStages

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses to challenges, and the secrecy of credentials.
struct AuthenticationStageTests {
    /// Creates a transport that requires "ada:secret" with the given challenge.
    private static func locked(_ challenge: String = #"Basic realm="x""#) -> MockTransport {
        MockTransport { request in
            guard request["Authorization"] != "Basic YWRhOnNlY3JldA==" else { return .text("in") }
            return .challenge(challenge)
        }
    }

    private func exchange(
        _ url: String = "http://one/", _ method: HTTPRequest.Method = .get, user: String = "ada",
        password: String = "secret", body: RequestBody = .none, delivery: ResponseDelivery = .collect()
    ) throws -> Exchange {
        var exchange = try Exchange.to(url, method, body: body, delivery: delivery)
        exchange.policies.credential = Credential(
            user: user, password: password, origin: Origin(exchange.request))
        return exchange
    }

    @Test func aChallengeIsAnswered() async throws {
        let (mock, witness, heads) = (Self.locked(), Witness(), Log())
        var exchange = try exchange()
        exchange.watch(by: witness, noting: heads)
        let response = try await StagedTransport(mock, AuthenticationStage()).send(exchange)
        #expect(response.text == "in")
        #expect(response.report.transactions.count == 2)
        #expect(response.report.redirects.isEmpty)
        #expect(mock.requests.map { $0["Authorization"] } == [nil, "Basic YWRhOnNlY3JldA=="])
        #expect(heads.entries == ["200"])
        let seen = witness.log.entries.filter { !$0.hasPrefix("sent") }
        #expect(seen == ["challenge 401", "head 200", "received 2"])
        // The transport receives the credential only in the header.
        for request in mock.requests { #expect(request.exchange.policies.credential == nil) }
    }

    @Test func aWrongAnswerIsNotRepeated() async throws {
        let mock = Self.locked()
        let response = try await StagedTransport(mock, AuthenticationStage()).send(exchange(password: "wrong"))
        #expect(response.head.status == 401)
        #expect(response.text == "unauthorized")
        #expect(mock.requests.count == 2)
    }

    @Test(arguments: ["Bearer", #"Digest realm="x", qop="z""#, "Negotiate", "", "Basicx realm=x"])
    func anUnsupportedChallengeIsTheFinalResponse(challenge: String) async throws {
        let mock = MockTransport { _ in .challenge(challenge) }
        let (witness, heads) = (Witness(), Log())
        var exchange = try exchange()
        exchange.watch(by: witness, noting: heads)
        let response = try await StagedTransport(mock, AuthenticationStage()).send(exchange)
        #expect(response.head.status == 401)
        #expect(response.text == "unauthorized")
        #expect(heads.entries == ["401"])
        #expect(witness.log.entries.filter { !$0.hasPrefix("sent") } == ["head 401", "received 12"])
        #expect(mock.requests.count == 1)
    }

    @Test func basicIsFoundAmongOthers() async throws {
        let mock = Self.locked(#"Negotiate, Digest realm="a, Basic realm=b", Basic realm="c""#)
        #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange()).text == "in")
    }

    @Test(arguments: ["http://two/", "https://one/", "http://one:81/"])
    func credentialsAreNotSentToOtherOrigins(url: String) async throws {
        let mock = Self.locked()
        var exchange = try exchange(url)
        exchange.policies.credential = Credential(
            user: "ada", password: "secret", origin: Origin(try Exchange.to("http://one/").request))
        #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange).head.status == 401)
        #expect(mock.requests.count == 1)
    }

    @Test func aOneShotStreamIsNotResent() async throws {
        let body = RequestBodyStream(isReplayable: false) {
            let rest = Locked([Data("body".utf8)])
            return { rest.withLock { $0.popLast() } }
        }
        let mock = Self.locked()
        let response = try await StagedTransport(mock, AuthenticationStage()).send(
            exchange("http://one/", .post, body: .stream(body)))
        #expect(response.head.status == 401)
        #expect(response.text == "unauthorized")
        #expect(mock.requests.count == 1)
    }

    @Test func otherBodiesAreResent() async throws {
        let mock = Self.locked()
        let exchange = try exchange("http://one/", .post, body: .data(Data("body".utf8)))
        #expect(try await StagedTransport(mock, AuthenticationStage()).send(exchange).text == "in")
        #expect(mock.requests.map(\.body) == [Data("body".utf8), Data("body".utf8)])
    }

    @Test(arguments: [("a:b", "c"), ("a\n", "c"), ("a", "c\u{0}")])
    func unencodableCredentialsAreATypedErrorWithoutThePassword(user: String, password: String) async throws {
        let mock = Self.locked()
        let exchange = try exchange(user: user, password: password)
        let error = await transportFailure { _ = try await StagedTransport(mock, AuthenticationStage()).send(exchange) }
        #expect(error?.code == .invalidCredential)
        #expect(error?.urlError.code == .userAuthenticationRequired)
        #expect(error?.report.transactions.count == 1)
        #expect(mock.requests.count == 1)
    }

    @Test(arguments: [
        (#"Basic realm="x""#, "e\u{301}:", "Basic ZcyBOg=="),
        (#"Basic realm="x", charset="UTF-8""#, "e\u{301}:", "Basic w6k6"),
        (#"Basic realm="x", charset=utf-8"#, "Aladdin:open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        (#"Basic realm="foo", charset="UTF-8""#, "test:123\u{A3}", "Basic dGVzdDoxMjPCow=="),
    ])
    func theCharsetIsUTF8(challenge: String, pair: String, header: String) async throws {
        let mock = Self.locked(challenge)
        let parts = pair.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        _ = try await StagedTransport(mock, AuthenticationStage()).send(exchange(user: parts[0], password: parts[1]))
        #expect(mock.requests.last?["Authorization"] == header)
    }

    @Test func streamsAndFilesContainTheLastResponse() async throws {
        let response = try await StagedTransport(Self.locked(), AuthenticationStage()).send(
            exchange(delivery: .stream()))
        guard case .stream(let body) = response.body else {
            Issue.record("\(response)")
            return
        }
        #expect(try await body.reduce(Data(), +) == Data("in".utf8))
        #expect(await body.report().transactions.count == 2)
        let url = FileManager.default.temporaryDirectory.appending(path: "auth-\(UUID().uuidString)")
        try Data().write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let descriptor = open(url.path, O_WRONLY)
        defer { close(descriptor) }
        _ = try await StagedTransport(Self.locked(), AuthenticationStage()).send(
            exchange(delivery: .file(descriptor: descriptor)))
        #expect(try Data(contentsOf: url) == Data("in".utf8))
    }

    @Test func aFailuresReportContainsBothRequests() async throws {
        let mock = MockTransport { request in
            request["Authorization"] == nil ? .challenge("Basic realm=x") : .failure(.connectionLost)
        }
        let exchange = try exchange()
        let error = await transportFailure { _ = try await StagedTransport(mock, AuthenticationStage()).send(exchange) }
        #expect(error?.code == .connectionLost)
        #expect(error?.report.transactions.count == 2)
    }
}
