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

/// Trusts a server whose certificate, or one that has signed it, has one of some public keys, in addition to the ordinary
/// validation.
///
/// Pin at least two: the key that is used, and one that is kept for when that must be replaced.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [PublicKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - keys: The keys to pin; `PublicKey(pin:)` makes one of "sha256//…". The default is those of the certificates in the
    ///     main bundle. Without any it refuses all.
    ///   - performDefaultValidation: Whether the chain is validated too: signatures, dates, use, strength. The default is true.
    ///   - validateHost: Whether the certificate must be for the host, for which the chain is validated too. The default is
    ///     true.
    public init(
        keys: [PublicKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.keys = keys
        self.performDefaultValidation = performDefaultValidation
        self.validateHost = validateHost
    }

    /// Throws the reason `noPublicKeysFound`, `defaultEvaluationFailed`, `hostValidationFailed` or
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
    /// A ``PublicKeysTrustEvaluator`` of the keys of the certificates in the main bundle.
    public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }

    /// A ``PublicKeysTrustEvaluator``.
    public static func publicKeys(
        keys: [PublicKey] = Bundle.main.af.publicKeys, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) -> PublicKeysTrustEvaluator {
        PublicKeysTrustEvaluator(
            keys: keys, performDefaultValidation: performDefaultValidation, validateHost: validateHost)
    }
}

extension Bundle: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: Bundle {
    /// The certificates in the bundle: in files that end in `.cer`, `.crt` or `.der`, in DER or PEM form. What cannot be read is
    /// left out.
    public var certificates: [Certificate] {
        paths(forResourcesOfTypes: [".cer", ".CER", ".crt", ".CRT", ".der", ".DER"]).flatMap { path in
            (try? Certificate.certificates(contentsOf: URL(filePath: path))) ?? []
        }
    }

    /// The keys of these certificates.
    public var publicKeys: [PublicKey] { certificates.map(\.publicKey) }

    /// The paths of the bundle's resources whose names end in one of these, "cer" or ".cer" say.
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        let endings = types.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
        return Set(endings.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }).sorted()
    }
}
