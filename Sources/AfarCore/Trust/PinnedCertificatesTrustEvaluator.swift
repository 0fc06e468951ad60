public import AfarTransport
public import Foundation

/// Trusts a server that has one of some certificates, its own or one that has signed it, in addition to the ordinary
/// validation.
///
/// A certificate is replaced when it expires, and then no request goes through any more unless the next one is pinned too.
/// ``PublicKeysTrustEvaluator`` pins what may stay the same.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [Certificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The certificates to pin. The default is those in the main bundle. Without any it refuses all.
    ///   - acceptSelfSignedCertificates: Whether the pinned certificates are what a chain may end in, in place of the
    ///     authorities that the transport trusts: for certificates of an authority of one's own. The default is false.
    ///   - performDefaultValidation: Whether the chain is validated too: signatures, dates, use, strength. The default is true.
    ///   - validateHost: Whether the certificate must be for the host, for which the chain is validated too. The default is
    ///     true.
    public init(
        certificates: [Certificate] = Bundle.main.af.certificates,
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.certificates = certificates
        self.acceptSelfSignedCertificates = acceptSelfSignedCertificates
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Throws the reason `noCertificatesFound`, `defaultEvaluationFailed`, `hostValidationFailed` or
    /// `certificatePinningFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        guard !certificates.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound) }
        var trust = trust
        if acceptSelfSignedCertificates { trust.anchors = certificates }
        let signed = try trust.af.validate(
            forHost: host, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
        guard signed.contains(where: certificates.contains) else {
            throw AFError.serverTrustEvaluationFailed(
                reason: .certificatePinningFailed(
                    host: host, trust: trust, pinnedCertificates: certificates, serverCertificates: signed))
        }
    }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
    /// A ``PinnedCertificatesTrustEvaluator`` of the certificates in the main bundle.
    public static var pinnedCertificates: PinnedCertificatesTrustEvaluator { PinnedCertificatesTrustEvaluator() }

    /// A ``PinnedCertificatesTrustEvaluator``.
    public static func pinnedCertificates(
        certificates: [Certificate] = Bundle.main.af.certificates,
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) -> PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(
            certificates: certificates, acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}
