public import Foundation

/// What the 4.x generation called an evaluator, as one type with a case for each kind.
public enum ServerTrustPolicy: ServerTrustEvaluating {
    /// A ``DefaultTrustEvaluator``.
    case performDefaultEvaluation(validateHost: Bool)
    /// A ``RevocationTrustEvaluator``.
    case performRevokedEvaluation(validateHost: Bool, revocationFlags: RevocationTrustEvaluator.Options)
    /// A ``PinnedCertificatesTrustEvaluator``, for which the pinned certificates are the only authorities. Without the chain
    /// the host is not validated either.
    case pinCertificates(certificates: [Certificate], validateCertificateChain: Bool, validateHost: Bool)
    /// A ``PublicKeysTrustEvaluator``. Without the chain the host is not validated either.
    case pinPublicKeys(publicKeys: [PublicKey], validateCertificateChain: Bool, validateHost: Bool)
    /// A ``DisabledTrustEvaluator``.
    case disableEvaluation
    /// Asks a closure, which gets what the server has presented and the host.
    case customEvaluation(@Sendable (_ serverTrust: ServerTrust, _ host: String) -> Bool)

    /// Throws what the evaluator of the case throws.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        try evaluator.evaluate(trust, forHost: host)
    }

    /// The certificates in a bundle.
    public static func certificates(in bundle: Bundle = .main) -> [Certificate] { bundle.af.certificates }

    /// The keys of the certificates in a bundle.
    public static func publicKeys(in bundle: Bundle = .main) -> [PublicKey] { bundle.af.publicKeys }

    private var evaluator: any ServerTrustEvaluating {
        switch self {
        case .performDefaultEvaluation(let validateHost): DefaultTrustEvaluator(validateHost: validateHost)
        case .performRevokedEvaluation(let validateHost, let flags):
            RevocationTrustEvaluator(validateHost: validateHost, options: flags)
        case .pinCertificates(let certificates, let validatesChain, let validateHost):
            PinnedCertificatesTrustEvaluator(
                certificates: certificates, acceptSelfSignedCertificates: validatesChain,
                performDefaultValidation: validatesChain, validateHost: validatesChain && validateHost)
        case .pinPublicKeys(let keys, let validatesChain, let validateHost):
            PublicKeysTrustEvaluator(
                keys: keys, performDefaultValidation: validatesChain, validateHost: validatesChain && validateHost)
        case .disableEvaluation: DisabledTrustEvaluator()
        case .customEvaluation(let closure): ClosureTrustEvaluator(closure: closure)
        }
    }
}

/// Asks a closure.
private struct ClosureTrustEvaluator: ServerTrustEvaluating {
    private struct Refusal: Error, CustomStringConvertible {
        var description: String { "the closure of ServerTrustPolicy.customEvaluation returned false" }
    }

    let closure: @Sendable (ServerTrust, String) -> Bool

    func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        guard closure(trust, host) else { throw Refusal() }
    }
}

/// What the 4.x generation called a ``ServerTrustManager``.
public typealias ServerTrustPolicyManager = ServerTrustManager

extension ServerTrustManager {
    /// Makes a manager that leaves hosts without a policy to the transport, as the 4.x generation's did.
    public convenience init(policies: [String: ServerTrustPolicy]) {
        self.init(allHostsMustBeEvaluated: false, evaluators: policies)
    }
}

#if !canImport(Security)
    /// What a server has presented, by the name that it has on Apple's systems.
    public typealias SecTrust = ServerTrust
    /// A certificate, by the name that it has on Apple's systems.
    public typealias SecCertificate = Certificate
    /// A public key, by the name that it has on Apple's systems.
    public typealias SecKey = PublicKey
#endif
