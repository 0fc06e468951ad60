public import Foundation

/// An evaluator that rejects servers with revoked certificates, in addition to the default validation.
///
/// It checks the OCSP response that the server sends (RFC 6066, section 8) and the given revocation lists. It doesn't access the
/// network: if there is neither a response nor a list, it rejects the server, because the status is unknown.
public final class RevocationTrustEvaluator: ServerTrustEvaluating {
    /// The sources to check.
    public struct Options: OptionSet, Sendable {
        /// OCSP responses that servers send.
        public static let ocsp = Options(rawValue: 1 << 0)
        /// Revocation lists.
        public static let crl = Options(rawValue: 1 << 1)
        /// Only revocation lists, if there are any.
        public static let preferCRL = Options(rawValue: 1 << 2)
        /// Has no effect: without a positive result, the server is always rejected.
        public static let requirePositiveResponse = Options(rawValue: 1 << 3)
        /// Has no effect: the network is never accessed.
        public static let networkAccessDisabled = Options(rawValue: 1 << 4)
        /// All available sources: a response and lists. If both are available, both must be good.
        public static let any: Options = [.crl, .ocsp]

        /// The raw value of the options.
        public let rawValue: UInt

        /// Creates options from a raw value.
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }

    private let performDefaultValidation: Bool
    private let validateHost: Bool
    private let options: Options
    private let revocationLists: [Data]

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - performDefaultValidation: The chain is always validated, because a revocation status is meaningful only for a known
    ///     issuer.
    ///   - validateHost: Whether the certificate must be for the host. The default is true.
    ///   - options: The sources to check. The default is `.any`: the response that the server sends, and the lists.
    ///   - revocationLists: Revocation lists (RFC 5280, section 5) in DER or PEM form, one for each authority in the chain. The
    ///     default is none.
    public init(
        performDefaultValidation: Bool = true, validateHost: Bool = true, options: Options = .any,
        revocationLists: [Data] = []
    ) {
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
        self.options = options
        self.revocationLists = revocationLists
    }

    /// Throws an error with the reason `defaultEvaluationFailed`, `hostValidationFailed` or `revocationCheckFailed`.
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
    /// A ``RevocationTrustEvaluator`` for OCSP responses that servers send.
    public static var revocationChecking: RevocationTrustEvaluator { RevocationTrustEvaluator() }

    /// Returns a ``RevocationTrustEvaluator``.
    public static func revocationChecking(
        performDefaultValidation: Bool = true, validateHost: Bool = true,
        options: RevocationTrustEvaluator.Options = .any, revocationLists: [Data] = []
    ) -> RevocationTrustEvaluator {
        RevocationTrustEvaluator(
            performDefaultValidation: performDefaultValidation, validateHost: validateHost, options: options,
            revocationLists: revocationLists)
    }
}
