import Alamofire
import Testing

/// A manager that pins the certificates of a bank.
class BankManager {
    let sessionManager: SessionManager

    init() {
        let policies: [String: ServerTrustPolicy] = [
            "bank.example.com": .pinCertificates(
                certificates: ServerTrustPolicy.certificates(), validateCertificateChain: true, validateHost: true),
            "test.example.com": .disableEvaluation,
            "own.example.com": .customEvaluation { _, host in host.hasPrefix("own") },
        ]
        sessionManager = SessionManager(
            configuration: URLSessionConfiguration.default,
            serverTrustPolicyManager: ServerTrustPolicyManager(policies: policies))
    }

    func hasPolicy(for host: String) throws -> Bool {
        try sessionManager.serverTrustManager?.serverTrustEvaluator(forHost: host) is ServerTrustPolicy
    }
}

@Suite struct BankManagerTests {
    @Test func onlySomeHostsHaveAPolicy() async throws {
        try await withServer { server in
            let bank = BankManager()
            let policies = try ["bank.example.com", "127.0.0.1"].map(bank.hasPolicy)
            #expect(policies == [true, false])
            let isSuccess = await withCheckedContinuation { done in
                bank.sessionManager.request(server.url("/text")).responseString {
                    done.resume(returning: $0.result.isSuccess)
                }
            }
            #expect(isSuccess)
        }
    }
}
