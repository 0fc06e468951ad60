public import Afar

/// The type of evaluators in Alamofire 4, with a case for each kind.
public enum ServerTrustPolicy: ServerTrustEvaluating {
    /// A `DefaultTrustEvaluator`.
    case performDefaultEvaluation(validateHost: Bool)
    /// A `RevocationTrustEvaluator`.
    case performRevokedEvaluation(validateHost: Bool, revocationFlags: RevocationTrustEvaluator.Options)
    /// A `PinnedCertificatesTrustEvaluator` whose pinned certificates are the only trusted roots. If the chain isn't validated,
    /// the host isn't validated either.
    case pinCertificates(certificates: [Certificate], validateCertificateChain: Bool, validateHost: Bool)
    /// A `PublicKeysTrustEvaluator`. If the chain isn't validated, the host isn't validated either.
    case pinPublicKeys(publicKeys: [PublicKey], validateCertificateChain: Bool, validateHost: Bool)
    /// A `DisabledTrustEvaluator`.
    case disableEvaluation
    /// Calls a closure with the server's certificates and the host.
    case customEvaluation(@Sendable (_ serverTrust: ServerTrust, _ host: String) -> Bool)

    /// Throws the error of the evaluator that the case represents.
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

/// An evaluator that calls a closure.
private struct ClosureTrustEvaluator: ServerTrustEvaluating {
    private struct Refusal: Error, CustomStringConvertible {
        var description: String { "the closure of ServerTrustPolicy.customEvaluation returned false" }
    }

    let closure: @Sendable (ServerTrust, String) -> Bool

    func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        guard closure(trust, host) else { throw Refusal() }
    }
}

/// Alamofire 4's name for `ServerTrustManager`.
public typealias ServerTrustPolicyManager = ServerTrustManager

extension ServerTrustManager {
    /// Creates a manager that uses the transport's default validation for hosts without a policy, as in Alamofire 4.
    public convenience init(policies: [String: ServerTrustPolicy]) {
        self.init(allHostsMustBeEvaluated: false, evaluators: policies)
    }
}
