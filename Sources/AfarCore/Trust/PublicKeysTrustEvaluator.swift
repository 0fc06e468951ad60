public import AfarTransport
public import Foundation

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
