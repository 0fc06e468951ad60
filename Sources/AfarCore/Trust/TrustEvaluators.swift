public import Foundation

// MARK: - Several, default, none

/// An evaluator that runs several evaluators in order. All of them must trust the server.
///
/// If one of them is a ``RevocationTrustEvaluator`` with revocation lists, the other evaluators use these lists too. Otherwise, a
/// pinning evaluator could accept a revoked chain while the revocation evaluator accepts another possible chain.
public final class CompositeTrustEvaluator: AsyncServerTrustEvaluating {
    fileprivate let evaluators: [any ServerTrustEvaluating]

    /// Creates an evaluator from other evaluators. If the array is empty, the evaluator trusts no server.
    public init(evaluators: [any ServerTrustEvaluating]) { self.evaluators = evaluators }

    /// Throws the error of the first evaluator that doesn't trust the server, or that is asynchronous.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        try checkCount()
        try evaluators.evaluate(trust, forHost: host)
    }

    /// Throws the error of the first evaluator that doesn't trust the server.
    public func evaluate(_ trust: ServerTrust, forHost host: String) async throws {
        try await decide(on: trust, forHost: host, waitingAtMost: .seconds(1e9))
    }

    func decide(on trust: ServerTrust, forHost host: String, waitingAtMost longestWait: Duration) async throws {
        try checkCount()
        let trust = evaluators.adding(to: trust)
        for evaluator in evaluators {
            try await evaluator.decide(on: trust, forHost: host, waitingAtMost: longestWait)
        }
    }

    private func checkCount() throws {
        guard evaluators.isEmpty else { return }
        let problem = Problem("a CompositeTrustEvaluator without evaluators trusts no server")
        throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: problem))
    }
}

extension ServerTrustEvaluating where Self == CompositeTrustEvaluator {
    /// Returns a ``CompositeTrustEvaluator`` of these evaluators.
    public static func composite(evaluators: [any ServerTrustEvaluating]) -> CompositeTrustEvaluator {
        CompositeTrustEvaluator(evaluators: evaluators)
    }
}

extension [any ServerTrustEvaluating] {
    /// Runs these evaluators in order. All of them must trust the server.
    ///
    /// - Throws: The error of the first evaluator that doesn't trust the server, or that is asynchronous.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        let trust = adding(to: trust)
        for evaluator in self { try evaluator.evaluate(trust, forHost: host) }
    }

    /// Adds the revocation lists of these evaluators to a trust.
    fileprivate func adding(to trust: ServerTrust) -> ServerTrust {
        var trust = trust
        trust.revocationLists += revocationLists
        return trust
    }

    private var revocationLists: [Data] {
        flatMap { evaluator -> [Data] in
            if let composite = evaluator as? CompositeTrustEvaluator { return composite.evaluators.revocationLists }
            return (evaluator as? RevocationTrustEvaluator)?.usedLists ?? []
        }
    }
}

/// An evaluator that performs the default validation. It checks that the chain is valid for the authorities that the transport
/// trusts, and that the certificate is valid for the host.
public final class DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameter validateHost: Whether the certificate must be valid for the host. The default is true.
    public init(validateHost: Bool = true) { self.validateHost = validateHost }

    /// Throws an error with the reason `defaultEvaluationFailed` or `hostValidationFailed`.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        try trust.af.validate(forHost: host, performDefaultValidation: true, validateHost: validateHost)
    }
}

extension ServerTrustEvaluating where Self == DefaultTrustEvaluator {
    /// A ``DefaultTrustEvaluator`` that validates the host.
    public static var `default`: DefaultTrustEvaluator { DefaultTrustEvaluator() }
}

/// An evaluator that trusts every certificate, so an attacker on the network can read and change all data. Use it only for tests
/// against your own servers, and only for hosts listed in a ``ServerTrustManager``.
public final class DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Creates an evaluator.
    public init() {}

    /// Never throws.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws {}
}

// MARK: - Pinning

/// An evaluator that performs the default validation and requires a pinned certificate. This can be the server's certificate or a
/// certificate that signed it.
///
/// When a certificate expires and is replaced, all requests fail unless the new certificate is also pinned. To avoid this, use
/// ``PublicKeysTrustEvaluator``, because a new certificate can have the same key.
public final class PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    private let certificates: [Certificate]
    private let acceptSelfSignedCertificates: Bool
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The certificates to pin. The default is the certificates in the main bundle. If there are none, no
    ///     server is trusted.
    ///   - acceptSelfSignedCertificates: Whether the pinned certificates are the trusted roots, instead of the authorities that
    ///     the transport trusts. Use this for certificates of your own authority. The default is false.
    ///   - performDefaultValidation: Whether to also validate the chain: signatures, dates, usage and strength. The default is
    ///     true.
    ///   - validateHost: Whether the certificate must be valid for the host. If true, the chain is validated too. The default is
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

/// An evaluator that performs the default validation and requires a pinned public key. The key can be in the server's certificate
/// or in a certificate that signed it.
///
/// Pin at least two keys: the current key and a backup that can replace it.
public final class PublicKeysTrustEvaluator: ServerTrustEvaluating {
    private let keys: [PublicKey]
    private let performDefaultValidation: Bool
    private let validateHost: Bool

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - keys: The keys to pin. `PublicKey(pin:)` creates a key from "sha256//…". The default is the keys of the certificates
    ///     in the main bundle. If there are none, no server is trusted.
    ///   - performDefaultValidation: See ``PinnedCertificatesTrustEvaluator``.
    ///   - validateHost: See ``PinnedCertificatesTrustEvaluator``.
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
    /// The certificates in the bundle's `.cer`, `.crt` and `.der` files. The files can be in DER or PEM form. Unreadable files are skipped.
    public var certificates: [Certificate] {
        paths(forResourcesOfTypes: [".cer", ".CER", ".crt", ".CRT", ".der", ".DER"]).flatMap { path in
            (try? Certificate.certificates(contentsOf: URL(filePath: path))) ?? []
        }
    }

    /// The public keys of these certificates.
    public var publicKeys: [PublicKey] { certificates.map(\.publicKey) }

    /// Returns the paths of the bundle's resources with one of these extensions, such as "cer" or ".cer".
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        let endings = types.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
        return Set(endings.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }).sorted()
    }
}

// MARK: - Revocation

/// An evaluator that rejects servers with revoked certificates, in addition to the default validation.
///
/// The evaluator checks the OCSP response that the server sends (RFC 6066, section 8) and the given revocation lists. It
/// doesn't access the network: if there is no response and no list, the status is unknown, and the evaluator rejects the
/// server.
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
        /// All available sources. If both a response and lists are available, both must show that the certificate isn't revoked.
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
    ///   - performDefaultValidation: Whether to perform the default validation first. The default is true. Even if this is
    ///     false, the chain is validated, because a revocation status is meaningful only for a known issuer.
    ///   - validateHost: Whether the certificate must be valid for the host. The default is true.
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
        let usesResponse = options.contains(.ocsp) && !(options.contains(.preferCRL) && !usedLists.isEmpty)
        do {
            try trust.validateRevocation(lists: usedLists, usesStapledResponse: usesResponse)
        } catch {
            throw AFError.serverTrustEvaluationFailed(
                reason: .revocationCheckFailed(output: .init(host: host, trust: trust, error: error), options: options))
        }
    }

    fileprivate var usedLists: [Data] { options.contains(.crl) ? revocationLists : [] }
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

// MARK: - Values of a trust

extension ServerTrust: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == ServerTrust {
    /// The certificates that the server sent, beginning with its own.
    public var certificates: [Certificate] { type.certificates }

    /// The public keys of these certificates.
    public var publicKeys: [PublicKey] { type.publicKeys }

    /// The certificates that the server sent, in DER form.
    public var certificateData: [Data] { type.certificates.af.data }

    /// Validates the chain. See `ServerTrust.validate()`.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `defaultEvaluationFailed`.
    public func performDefaultValidation(forHost host: String) throws {
        try validate(forHost: host, performDefaultValidation: true, validateHost: false)
    }

    /// Validates the chain, and checks that the certificate is valid for a host. See `ServerTrust.validate()` and
    /// `ServerTrust.validateHost(_:)`.
    ///
    /// - Throws: ``AFError/serverTrustEvaluationFailed(reason:)`` with the reason `hostValidationFailed`.
    public func performValidation(forHost host: String) throws {
        try validate(forHost: host, performDefaultValidation: false, validateHost: true)
    }

    /// Validates the chain if one of the two arguments is true. Also validates the host if `validateHost` is true.
    ///
    /// - Returns: The certificates to compare with pins. Unrelated certificates that a server can also send aren't included.
    @discardableResult
    func validate(
        forHost host: String, performDefaultValidation: Bool, validateHost: Bool
    ) throws -> [Certificate] {
        guard performDefaultValidation || validateHost else { return type.signedCertificates }
        var isAboutHost = !performDefaultValidation
        do throws(ServerTrustError) {
            let chain = try type.validate()
            isAboutHost = true
            if validateHost { try type.validateHost(host) }
            return chain
        } catch {
            let output = AFError.ServerTrustFailureReason.Output(host: host, trust: type, error: error)
            if error.code == .revoked || error.code == .revocationUnknown {
                throw AFError.serverTrustEvaluationFailed(reason: .revocationCheckFailed(output: output, options: .crl))
            }
            throw AFError.serverTrustEvaluationFailed(
                reason: isAboutHost ? .hostValidationFailed(output: output) : .defaultEvaluationFailed(output: output))
        }
    }
}

extension [Certificate]: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == [Certificate] {
    /// The certificates in DER form.
    public var data: [Data] { type.map(\.derEncoded) }

    /// The certificates' keys.
    public var publicKeys: [PublicKey] { type.map(\.publicKey) }
}

extension Certificate: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == Certificate {
    /// The certificate's key.
    public var publicKey: PublicKey? { type.publicKey }
}

/// The earlier name of ``DisabledTrustEvaluator``.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator
