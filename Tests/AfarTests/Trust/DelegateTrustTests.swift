import Afar
import AfarCore
import Foundation
import TestServers
import Testing

/// Certificate decisions of a session's delegate.
@Suite(.timeLimit(.minutes(1))) struct DelegateTrustTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private func session(_ delegate: SessionDelegate, _ manager: ServerTrustManager? = nil) -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        return Session(configuration: configuration, delegate: delegate, serverTrustManager: manager)
    }

    private func server() async throws -> SecureServer {
        try await SecureServer(certificates, ["good": .init("good"), "bad": .init("expired")])
    }

    @Test(arguments: [true, false]) func aDelegateCanTrustAnyCertificate(isOfSession: Bool) async throws {
        let server = try await server()
        let seen = Locked<[String]>([])
        let answer: @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?) = {
            guard let trust = $0.protectionSpace.af.serverTrust else { return (.performDefaultHandling, nil) }
            seen.withLock { $0.append("\(trust.host) \(trust.certificates[0].subject)") }
            return (.useCredential, URLCredential.af.trusting(trust))
        }
        let delegate = SessionDelegate()
        if isOfSession {
            delegate.sessionDidReceiveChallenge = { answer($1) }
        } else {
            delegate.taskDidReceiveChallenge = { answer($2) }
        }
        let session = session(delegate)
        for _ in 0..<2 { _ = try await session.request(server.url("bad")).serializingString().value }
        #expect(seen.withLock { $0 } == ["localhost CN=expired"])
    }

    @Test func aDelegateCanUseTheDefaultEvaluation() async throws {
        let server = try await server()
        let delegate = SessionDelegate()
        // A password doesn't affect the evaluation of trust.
        delegate.taskDidReceiveChallenge = { _, _, _ in
            (.useCredential, URLCredential(user: "", password: "", persistence: .none))
        }
        let session = session(delegate)
        _ = try await session.request(server.url("good")).serializingString().value
        let refused = await session.request(try server.url("bad")).serializingString().response
        guard case .serverTrustEvaluationFailed(.defaultEvaluationFailed(let output)) = refused.error else {
            throw try #require(refused.error)
        }
        #expect(output.error.code == .expired)
        let pinned = self.session(
            delegate, ServerTrustManager(evaluators: ["localhost": PublicKeysTrustEvaluator(keys: [])]))
        let error = await pinned.request(try server.url("good")).serializingString().response.error
        #expect(error?.isServerTrustEvaluationError == true)
    }

    @Test(arguments: [URLSession.AuthChallengeDisposition.cancelAuthenticationChallenge, .rejectProtectionSpace])
    func aDelegateCanReject(disposition: URLSession.AuthChallengeDisposition) async throws {
        let server = try await server()
        let delegate = SessionDelegate()
        delegate.sessionDidReceiveChallengeWithCompletion = { _, _, completion in completion(disposition, nil) }
        let session = session(delegate)
        let error = await session.request(try server.url("good")).serializingString().response.error
        let code = (error?.underlyingError as? URLError)?.code
        #expect(code == (disposition == .rejectProtectionSpace ? .serverCertificateUntrusted : .cancelled))
        #expect(try await server.requestBytes(to: "good") == 0)
    }
}
