import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Credential challenges in a session's delegate.
struct DelegateChallengeTests {
    private static let path = "/basic-auth/ada/lovelace"

    private static func session(
        _ kind: TransportKind, eventMonitors: [any EventMonitor] = [],
        _ answer:
            @escaping @Sendable (URLAuthenticationChallenge) -> (
                URLSession.AuthChallengeDisposition, URLCredential?
            )
    ) -> Session {
        let delegate = SessionDelegate()
        delegate.taskDidReceiveChallenge = { _, _, challenge in answer(challenge) }
        return Session(delegate: delegate, eventMonitors: eventMonitors, transport: kind.make(.default))
    }

    @Test(arguments: TransportKind.allCases)
    func theDelegatesCredentialIsUsed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = Self.session(kind) { challenge in
            let space = challenge.protectionSpace
            #expect(space.host == "127.0.0.1" && space.port == server.url("/").port)
            #expect(space.realm == "Afar" && space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
            #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
            return (.useCredential, URLCredential(user: "ada", password: "lovelace", persistence: .none))
        }
        let request = session.request(server.url(Self.path)).validate()
        _ = try await request.serializingData().value
        #expect(request.response?.statusCode == 200)
        #expect(server.requestCount == 2)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theDefaultIsTheRequestsCredential(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = Self.session(kind) { challenge in
            #expect(challenge.proposedCredential?.user == "ada")
            return (.performDefaultHandling, nil)
        }
        let request = session.request(server.url(Self.path))
            .authenticate(username: "ada", password: "lovelace").validate()
        _ = try await request.serializingData().value
        #expect(request.response?.statusCode == 200)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRejectedChallengeReturnsTheResponse(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = Self.session(kind) { _ in (.rejectProtectionSpace, nil) }
        let request = session.request(server.url(Self.path)).authenticate(username: "ada", password: "lovelace")
        let body = try await request.serializingString().value
        #expect(request.response?.statusCode == 401)
        #expect(body == "not authorized\n")
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aCancelledChallengeFailsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = Self.session(kind) { _ in (.cancelAuthenticationChallenge, nil) }
        let response = await session.request(server.url(Self.path)).serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .cancelled)
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theDelegateIsCalledForEachSupportedScheme(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        server.route("/all") { _ in
            .text("who?", status: 401)
                .adding("WWW-Authenticate", #"Basic realm="Afar", NTLM, Digest realm="Afar", nonce="n", qop="auth""#)
                .adding("WWW-Authenticate", "Negotiate, Bearer")
        }
        let methods = Locked<[String]>([])
        let session = Self.session(kind) { challenge in
            methods.withLock { $0.append(challenge.protectionSpace.authenticationMethod) }
            return (.rejectProtectionSpace, nil)
        }
        let request = session.request(server.url("/all")).authenticate(username: "ada", password: "lovelace")
        #expect(try await request.serializingString().value == "who?")
        let bound = kind.reasonAgainst(.connectionAuthentication) == nil
        #expect(
            methods.withLock { $0 }
                == [
                    bound ? NSURLAuthenticationMethodNegotiate : nil, NSURLAuthenticationMethodHTTPDigest,
                    bound ? NSURLAuthenticationMethodNTLM : nil, NSURLAuthenticationMethodHTTPBasic,
                ].compactMap { $0 })
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test
    func monitorsAreNotifiedOfEachChallenge() async throws {
        let server = try await TestServer.start()
        let failures = AsyncStream.makeStream(of: Int.self)
        let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "challenges"))
        monitor.taskDidReceiveChallenge = { _, _, challenge in
            failures.continuation.yield(challenge.previousFailureCount)
        }
        monitor.requestDidFinish = { _ in failures.continuation.finish() }
        let session = Session(eventMonitors: [monitor])
        let request = session.request(server.url(Self.path)).authenticate(username: "ada", password: "wrong")
        _ = await request.serializingData().response
        #expect(request.response?.statusCode == 401)
        var reported: [Int] = []
        for await count in failures.stream { reported.append(count) }
        #expect(reported == [0, 1])
        await server.stop()
    }
}
