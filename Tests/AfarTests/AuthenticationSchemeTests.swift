import Afar
import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

/// Custom authentication schemes.
struct AuthenticationSchemeTests {
    /// `Authorization: Signed USER NONCE LENGTH`. The server accepts the length of the password as the signature.
    private struct Signature: AuthenticationScheme {
        struct NoKey: Error {}

        var name = "signed"
        var renewsOnce = false
        var takesTime = true
        let threads = Locked<[String]>([])

        /// The name of the current thread. On Linux, the transports' threads have names.
        private static var threadName: String {
            (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
        }

        func accepts(_ challenge: AuthenticationChallenge) -> Bool { challenge.scheme == name }

        func accepts(user: String, password: String) -> Bool { user != "anonymous" }

        func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool { takesTime }

        func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool { renewsOnce }

        func answer(
            _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
        ) throws {
            threads.withLock { $0.append(Self.threadName) }
            guard user != "keyless" else { throw NoKey() }
            let nonce = challenge.parameters["nonce"] ?? challenge.token ?? ""
            exchange.request.headerFields[.authorization] = "Signed \(user) \(nonce) \(password.utf8.count)"
        }
    }

    /// Starts a server whose nonces are the numbers of the requests that it has received.
    private static func server(offering schemes: [String], accepting accepted: String) async throws -> TestServer {
        let server = try await TestServer.start()
        let count = Locked(0)
        server.route("/signed") { request in
            guard request.headers["Authorization"] != accepted else { return .text("welcome") }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return schemes.reduce(.text("no", status: 401)) {
                $0.adding("WWW-Authenticate", $1.replacing("#", with: "\(number)"))
            }
        }
        return server
    }

    private static func session(_ kind: TransportKind, _ schemes: any AuthenticationScheme...) -> Session {
        kind.session { $0.authenticationSchemes = schemes + [StandardAuthentication.basic] }
    }

    @Test(arguments: TransportKind.allCases) func aSchemeAnswersItsChallenges(kind: TransportKind) async throws {
        let server = try await Self.server(offering: ["Signed nonce=\"n#\""], accepting: "Signed ada n1 8")
        let scheme = Signature()
        let session = Self.session(kind, scheme)
        let request = session.request(server.url("/signed")).authenticate(username: "ada", password: "lovelace")
        #expect(try await request.serializingString().value == "welcome")
        #expect(server.requestCount(path: "/signed") == 2)
        #expect(scheme.threads.withLock { $0 }.allSatisfy { !$0.hasPrefix("afar.") })
        await server.stop()
    }

    @Test(arguments: [true, false], ["keyless", "ada"])
    func aSchemeAnswersSupportedChallenges(takesTime: Bool, user: String) async throws {
        let server = try await Self.server(offering: ["Signed token68=="], accepting: "Signed ada token68== 8")
        let session = Self.session(.platform, Signature(takesTime: takesTime))
        let request = session.request(server.url("/signed")).authenticate(username: user, password: "lovelace")
        let response = await request.serializingString().response
        if user == "ada" {
            #expect(response.value == "welcome")
        } else {
            let error = try #require(response.error?.underlyingError as? URLError)
            let failure = try #require(error.userInfo[NSUnderlyingErrorKey] as? TransportError)
            #expect(failure.code == .invalidCredential && failure.underlying is Signature.NoKey)
            #expect(failure.message.contains("signed") && !"\(failure)".contains("lovelace"))
        }
        await server.stop()
    }

    @Test func aSchemeTakesPrecedenceOverBuiltInOnes() async throws {
        let offers = ["Basic realm=r", "Signed nonce=\"n#\""]
        for (name, accepted) in [("signed", "Signed ada n1 8"), ("basic", "Signed ada  8")] {
            let server = try await Self.server(offering: offers, accepting: accepted)
            let session = Self.session(.platform, Signature(name: name))
            let request = session.request(server.url("/signed")).authenticate(username: "ada", password: "lovelace")
            #expect(try await request.serializingString().value == "welcome", "\(name)")
            await server.stop()
        }
    }

    @Test func anUnsupportedCredentialUsesTheNextScheme() async throws {
        let basic = "Basic " + Data("anonymous:lovelace".utf8).base64EncodedString()
        let server = try await Self.server(offering: ["Signed nonce=n", "Basic realm=r"], accepting: basic)
        let session = Self.session(.platform, Signature())
        let request = session.request(server.url("/signed")).authenticate(username: "anonymous", password: "lovelace")
        #expect(try await request.serializingString().value == "welcome")
        await server.stop()
    }

    @Test(arguments: [true, false]) func aNewNonceIsAnsweredOnce(renews: Bool) async throws {
        for (accepted, status, count) in [
            ("Signed ada n2 8", renews ? 200 : 401, renews ? 3 : 2), ("never", 401, renews ? 3 : 2),
        ] {
            let server = try await Self.server(offering: ["Signed nonce=\"n#\""], accepting: accepted)
            let session = Self.session(.platform, Signature(renewsOnce: renews))
            let request = session.request(server.url("/signed")).authenticate(username: "ada", password: "lovelace")
            #expect(await request.serializingString().response.response?.statusCode == status)
            #expect(server.requestCount(path: "/signed") == count)
            await server.stop()
        }
    }

    @Test func aKeyIsNotSentAsAPasswordWithoutBasicInTheList() async throws {
        let server = try await Self.server(
            offering: ["Basic realm=r", "Digest realm=r, nonce=n, qop=auth"], accepting: "never")
        for (schemes, prefix) in [
            ([Signature()], nil), ([Signature(), StandardAuthentication.digestWithMD5], "Digest "),
        ]
            as [([any AuthenticationScheme], String?)]
        {
            let session = TransportKind.platform.session { $0.authenticationSchemes = schemes }
            let request = session.request(server.url("/signed")).authenticate(username: "ada", password: "lovelace")
            #expect(await request.serializingString().response.response?.statusCode == 401)
            let answer = server.lastRequest(path: "/signed")?.headers["Authorization"]
            #expect(answer.map { $0.hasPrefix(prefix ?? "none") } ?? (prefix == nil), "\(answer ?? "")")
        }
        await server.stop()
    }

    @Test func aCredentialWithControlCharactersIsNotSent() async throws {
        let server = try await Self.server(offering: ["Signed nonce=n"], accepting: "never")
        let session = Self.session(.platform, Signature())
        let request = session.request(server.url("/signed")).authenticate(username: "a\r\nX-Evil: 1", password: "p")
        let error = await request.serializingString().response.error
        #expect(error?.transportError?.code == .invalidCredential)
        #expect(server.requestCount(path: "/signed") == 1)
        await server.stop()
    }

    @Test func aSchemesCredentialIsNotSentToAnotherOrigin() async throws {
        let first = try await TestServer.start()
        let second = try await Self.server(offering: ["Signed nonce=n"], accepting: "Signed ada n 8")
        let session = Self.session(.platform, Signature())
        let request = session.request(
            first.url("/redirect-to"), parameters: ["url": second.url("/signed").absoluteString]
        )
        .authenticate(username: "ada", password: "lovelace")
        #expect(await request.serializingString().response.response?.statusCode == 401)
        #expect(second.lastRequest(path: "/signed")?.headers["Authorization"] == nil)
        await first.stop()
        await second.stop()
    }
}
