import Alamofire
import Testing

/// A session that requires an evaluator for every host.
struct TrustedHosts {
    let manager = ServerTrustManager(evaluators: [
        "api.example.com": PinnedCertificatesTrustEvaluator(certificates: []),
        "keys.example.com": CompositeTrustEvaluator(evaluators: [
            DefaultTrustEvaluator(), PublicKeysTrustEvaluator(keys: []),
        ]),
        "old.example.com": RevocationTrustEvaluator(),
    ])

    func session() -> Session { Session(serverTrustManager: manager) }

    func explanation(of host: String) -> String {
        do {
            return try manager.serverTrustEvaluator(forHost: host) == nil ? "not evaluated" : "evaluated"
        } catch AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(let host)) {
            return "no evaluator for \(host)"
        } catch {
            return "\(error)"
        }
    }
}

@Suite struct TrustedHostsTests {
    @Test func hostsNeedAnEvaluator() async throws {
        try await withServer { server in
            let hosts = TrustedHosts()
            #expect(hosts.explanation(of: "keys.example.com") == "evaluated")
            #expect(hosts.explanation(of: "evil.example.com") == "no evaluator for evil.example.com")
            // A request without TLS isn't evaluated.
            let session = hosts.session()
            #expect(await session.request(server.url("/get")).serializingData().response.error == nil)
        }
    }
}
