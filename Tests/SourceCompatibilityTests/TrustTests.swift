import Afar
import Foundation
import Testing

/// Certificate pinning, as in code for Alamofire.
struct TrustTests {
    private struct Failure: Error {}

    private final class OwnEvaluator: ServerTrustEvaluating {
        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            try trust.af.performDefaultValidation(forHost: host)
            guard trust.af.certificates.first.map({ $0.af.publicKey != nil }) == true else {
                throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
            }
            guard !trust.af.certificateData.isEmpty, !trust.af.publicKeys.isEmpty else { throw Failure() }
        }
    }

    private final class WildcardManager: ServerTrustManager, @unchecked Sendable {
        override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
            if host.hasSuffix(".example.com") { return evaluators["*.example.com"] }
            return try super.serverTrustEvaluator(forHost: host)
        }
    }

    @Test func managersAndEvaluatorsHaveTheirInitializers() throws {
        let evaluators: [String: any ServerTrustEvaluating] = [
            "cert.example.com": PinnedCertificatesTrustEvaluator(),
            "keys.example.com": PublicKeysTrustEvaluator(),
            "default.example.com": DefaultTrustEvaluator(validateHost: true),
            "revoked.example.com": RevocationTrustEvaluator(options: [.crl, .requirePositiveResponse]),
            "several.example.com": CompositeTrustEvaluator(evaluators: [
                .default, .revocationChecking(), .pinnedCertificates(acceptSelfSignedCertificates: true), .publicKeys(),
            ]),
            "self-signed.example.com": PinnedCertificatesTrustEvaluator(
                certificates: Bundle.main.af.certificates, acceptSelfSignedCertificates: true,
                performDefaultValidation: false, validateHost: false),
            "own.example.com": OwnEvaluator(),
            "off.example.com": DisabledTrustEvaluator(),
        ]
        let manager = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: evaluators)
        let session = Session(serverTrustManager: manager)
        #expect(session.serverTrustManager === manager)
        #expect(try manager.serverTrustEvaluator(forHost: "keys.example.com") is PublicKeysTrustEvaluator)
        #expect(try manager.serverTrustEvaluator(forHost: "other.example.com") == nil)
        let wildcard = WildcardManager(evaluators: ["*.example.com": OwnEvaluator()])
        #expect(try wildcard.serverTrustEvaluator(forHost: "a.example.com") is OwnEvaluator)
        #expect(throws: AFError.self) { try wildcard.serverTrustEvaluator(forHost: "example.org") }
    }

    @Test func allParametersOfASessionAreInOrder() {
        let session = Session(
            configuration: .default, delegate: SessionDelegate(), rootQueue: DispatchQueue(label: "root"),
            startRequestsImmediately: true, requestSetup: .lazy, requestQueue: nil, serializationQueue: nil,
            interceptor: nil, serverTrustManager: ServerTrustManager(evaluators: [:]), redirectHandler: nil,
            eventMonitors: [])
        #expect(session.serverTrustManager?.allHostsMustBeEvaluated == true)
    }

    @Test func reasonsCanBeDestructured() {
        func text(_ error: AFError) -> String {
            guard case .serverTrustEvaluationFailed(let reason) = error else { return "" }
            switch reason {
            case .noRequiredEvaluator(let host): return host
            case .certificatePinningFailed(let host, _, let pinned, let server):
                return "\(host) \(pinned.count) \(server.count)"
            case let .publicKeyPinningFailed(host, trust, pinnedKeys, serverKeys):
                return "\(host) \(trust.host) \(pinnedKeys.count) \(serverKeys.count)"
            case .revocationCheckFailed(let output, let options): return "\(output.host) \(options.contains(.crl))"
            case .defaultEvaluationFailed(let output), .hostValidationFailed(let output): return output.host
            default: return "other"
            }
        }
        #expect(text(.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: "h"))) == "h")
    }
}
