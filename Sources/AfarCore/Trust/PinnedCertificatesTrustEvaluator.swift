public import Foundation

/// An evaluator that requires one of the pinned certificates, either the server's own or one that signed it, in addition to the
/// default validation.
///
/// When a certificate expires and is replaced, all requests fail unless the new one is pinned too. ``PublicKeysTrustEvaluator``
/// pins keys, which can stay the same.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [Certificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The certificates to pin. The default is those in the main bundle. If there are none, no server is
    ///     trusted.
    ///   - acceptSelfSignedCertificates: Whether the pinned certificates are the trusted roots, in place of the authorities that
    ///     the transport trusts. Use this for certificates of your own authority. The default is false.
    ///   - performDefaultValidation: Whether to validate the chain too: signatures, dates, usage and strength. The default is
    ///     true.
    ///   - validateHost: Whether the certificate must be for the host. This also validates the chain. The default is true.
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

    /// Throws an error with the reason `noCertificatesFound`, `defaultEvaluationFailed`, `hostValidationFailed` or
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
    /// A ``PinnedCertificatesTrustEvaluator`` for the certificates in the main bundle.
    public static var pinnedCertificates: PinnedCertificatesTrustEvaluator { PinnedCertificatesTrustEvaluator() }

    /// Returns a ``PinnedCertificatesTrustEvaluator``.
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

/// An evaluator that requires one of the pinned public keys, either that of the server's certificate or of one that signed it, in
/// addition to the default validation.
///
/// Pin at least two keys: the current one and a backup that can replace it.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [PublicKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - keys: The keys to pin. `PublicKey(pin:)` creates one from "sha256//…". The default is the keys of the certificates in
    ///     the main bundle. If there are none, no server is trusted.
    ///   - performDefaultValidation: Whether to validate the chain too: signatures, dates, usage and strength. The default is
    ///     true.
    ///   - validateHost: Whether the certificate must be for the host. This also validates the chain. The default is true.
    public init(
        keys: [PublicKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.keys = keys
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Throws an error with the reason `noPublicKeysFound`, `defaultEvaluationFailed`, `hostValidationFailed` or
    /// `publicKeyPinningFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        guard !keys.isEmpty else { throw AFError.serverTrustEvaluationFailed(reason: .noPublicKeysFound) }
        let signed = try trust.af.validate(
            forHost: host, performDefaultValidation: performDefaultValidation, validateHost: validateHost
        ).map(\.publicKey)
        guard signed.contains(where: keys.contains) else {
            throw AFError.serverTrustEvaluationFailed(
                reason: .publicKeyPinningFailed(host: host, trust: trust, pinnedKeys: keys, serverKeys: signed))
        }
    }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
    /// A ``PublicKeysTrustEvaluator`` for the keys of the certificates in the main bundle.
    public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

    /// Returns a ``PublicKeysTrustEvaluator``.
    public static func publicKeys(
        keys: [PublicKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}

extension Bundle: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: Bundle {
    /// The certificates in the bundle: in `.cer`, `.crt` and `.der` files, in DER or PEM form. Unreadable files are skipped.
    public var certificates: [Certificate] {
        paths(forResourcesOfTypes: [".cer", ".CER", ".crt", ".CRT", ".der", ".DER"]).flatMap { path in
            (try? Certificate.certificates(contentsOf: URL(filePath: path))) ?? []
        }
    }

    /// The keys of these certificates.
    public var publicKeys: [PublicKey] { certificates.map(\.publicKey) }

    /// Returns the paths of the bundle's resources with one of these extensions, such as "cer" or ".cer".
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        let endings = types.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
        return Set(endings.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }).sorted()
    }
}
