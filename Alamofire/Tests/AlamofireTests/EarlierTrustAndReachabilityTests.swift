import Alamofire
import Testing

@Suite struct EarlierTrustAndReachabilityTests {
    @Test func theEarlierGenerationsPoliciesAreThere() {
        let policies: [String: ServerTrustPolicy] = [
            "a.example.com": .pinCertificates(
                certificates: ServerTrustPolicy.certificates(), validateCertificateChain: true, validateHost: true),
            "b.example.com": .pinPublicKeys(
                publicKeys: ServerTrustPolicy.publicKeys(), validateCertificateChain: true, validateHost: true),
            "c.example.com": .performDefaultEvaluation(validateHost: true),
            "d.example.com": .disableEvaluation,
            "e.example.com": .customEvaluation { _, host in host == "e.example.com" },
        ]
        let manager = ServerTrustPolicyManager(policies: policies)
        #expect(manager.evaluators.count == 5 && !manager.allHostsMustBeEvaluated)
    }

    @Test func theNamesOfVersionFourAreThere() async throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        #expect(!manager.isReachableOnWWAN)
        manager.listenerQueue = DispatchQueue(label: "listener")
        let isReachable = await withCheckedContinuation { continuation in
            manager.listener = { status in continuation.resume(returning: status != .reachable(.wwan)) }
            manager.startListening()
        }
        #expect(isReachable)
        manager.stopListening()
    }
}
