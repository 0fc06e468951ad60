public import Foundation

/// Refuses a server whose certificate is revoked, in addition to the ordinary validation.
///
/// It looks at the OCSP response that the server sends along (RFC 6066, section 8) and at revocation lists that it is given.
/// It fetches nothing: when neither is there, it refuses, as it cannot be found out.
public final class RevocationTrustEvaluator: ServerTrustEvaluating {
    /// What is looked at.
    public struct Options: OptionSet, Sendable {
        /// OCSP responses that servers send along.
        public static let ocsp = Options(rawValue: 1 << 0)
        /// Revocation lists.
        public static let crl = Options(rawValue: 1 << 1)
        /// Lists only, where there are any.
        public static let preferCRL = Options(rawValue: 1 << 2)
        /// Has no effect: without a positive answer, the server is always refused.
        public static let requirePositiveResponse = Options(rawValue: 1 << 3)
        /// Has no effect: nothing is ever fetched.
        public static let networkAccessDisabled = Options(rawValue: 1 << 4)
        /// All that is there: a response, and lists. Both must be good if both are there.
        public static let any: Options = [.crl, .ocsp]

        /// The bits.
        public let rawValue: UInt

        /// Makes options of their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }

    private let performDefaultValidation: Bool
    private let validateHost: Bool
    private let options: Options
    private let revocationLists: [Data]

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - performDefaultValidation: Is always done: what is said about a certificate is worth something only when it is known
    ///     who issued it.
    ///   - validateHost: Whether the certificate must be for the host. The default is true.
    ///   - options: What is looked at. The default is `.any`: the response that the server sends along, and the lists.
    ///   - revocationLists: Lists (RFC 5280, section 5) in DER or PEM form, one of each authority in the chain. The default
    ///     is none.
    public init(
        performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any,
        revocationLists: [Data] = []
    ) {
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
        self.options = options
        self.revocationLists = revocationLists
    }

    /// Throws the reason `defaultEvaluationFailed`, `hostValidationFailed` or `revocationCheckFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        if performDefaultValidation || validateHost {
            try trust.af.validate(
                forHost: host, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
        }
        let usesLists = options.contains(.crl)
        let usesResponse =
            options.contains(.ocsp) && !(usesLists && options.contains(.preferCRL) && !revocationLists.isEmpty)
        do {
            try trust.validateRevocation(
                lists: usesLists ? revocationLists : [], usesStapledResponse: usesResponse)
        } catch {
            throw AFError.serverTrustEvaluationFailed(
                reason: .revocationCheckFailed(output: .init(host: host, trust: trust, error: error), options: options))
        }
    }
}

extension ServerTrustEvaluating where Self == RevocationTrustEvaluator {
    /// A ``RevocationTrustEvaluator`` for responses that servers send along.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// A ``RevocationTrustEvaluator``.
    public static func revocationChecking(
        performDefaultValidation: Bool = true, validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any, revocationLists: [Data] = []
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options,
            revocationLists: revocationLists)
    }
}
