public import Foundation

/// What a server showed of its identity in a TLS handshake, for an evaluator to decide on.
///
/// The handshake has proven that the server has the key of its own certificate, the first; all else is to be validated.
/// Validation takes no network, and may be asked for on any thread.
public struct ServerTrust: Sendable {
    /// The host that was asked for.
    public let host: String
    /// The certificates as the server sent them, its own first. Those after it may be anything: to pin, take
    /// ``signedCertificates``.
    public let certificates: [Certificate]
    /// The answer of an OCSP responder that the server sent along (RFC 6066, section 8), in DER form.
    public let stapledOCSPResponse: Data?
    /// The certificates that a chain must end in; nil for the authorities that the transport trusts, the system's as a rule.
    public var anchors: [Certificate]?
    let authorities: CertificateAuthorities

    package init(
        host: String, certificates: [Certificate], stapledOCSPResponse: Data? = nil,
        authorities: CertificateAuthorities
    ) {
        self.host = host
        self.certificates = certificates
        self.stapledOCSPResponse = stapledOCSPResponse
        self.authorities = authorities
    }

    /// The keys of ``certificates``.
    public var publicKeys: [PublicKey] { certificates.map(\.publicKey) }

    /// The verdict of the ordinary validation, by ``validate()``, as a value.
    public var validation: Result<[Certificate], ServerTrustError> {
        Result { () throws(ServerTrustError) in try validate() }
    }

    /// Validates the chain (RFC 5280, section 6): signatures, dates, use for servers, names that its authorities may sign for,
    /// strength, and that it ends in one of the ``anchors`` or the authorities. The certificate of an authority is not one of a
    /// server, unless it is an anchor itself. The host's name is not looked at: ``validateHost(_:)``.
    ///
    /// - Returns: The chain, from the server's certificate to the one that is trusted.
    /// - Throws: The first thing that is wrong.
    @discardableResult
    public func validate() throws(ServerTrustError) -> [Certificate] {
        try ChainValidation(self).chain()
    }

    /// Checks that the server's certificate is for a host (RFC 9525): a name or an address, of its alternative names only.
    ///
    /// - Throws: ``ServerTrustError/Code-swift.struct/hostMismatch``.
    public func validateHost(_ host: String) throws(ServerTrustError) {
        guard let certificate = certificates.first else { throw .noCertificates }
        guard try certificate.isValid(forHost: host) else {
            throw .hostMismatch(certificate, host: host)
        }
    }

    /// Checks that no certificate of the chain is revoked, after ``validate()``.
    ///
    /// - Parameters:
    ///   - lists: Revocation lists (RFC 5280, section 5), in DER or PEM form. If there are any, there must be one of each
    ///     authority in the chain.
    ///   - usesStapledResponse: Whether the OCSP response that the server sent along is looked at, if it did. Without lists
    ///     a good one is enough, which is about the server's own certificate only.
    /// - Throws: ``ServerTrustError/Code-swift.struct/revoked``,
    ///   ``ServerTrustError/Code-swift.struct/revocationUnknown`` when it cannot be found out, and all that ``validate()``
    ///   throws.
    public func validateRevocation(lists: [Data] = [], usesStapledResponse: Bool = true) throws(ServerTrustError) {
        let chain = try validate()
        if usesStapledResponse, let stapledOCSPResponse {
            try ChainValidation(self).checkStatus(in: stapledOCSPResponse, of: chain)
            if lists.isEmpty { return }
        }
        guard !lists.isEmpty else {
            throw ServerTrustError(
                .revocationUnknown,
                "the server sent no OCSP response along, and no revocation list is given: "
                    + "whether its certificate is revoked is not known", certificate: chain.first)
        }
        try ChainValidation(self, revocationLists: lists).chain()
    }

    /// The server's certificate and those that have signed one another from there on, however the chain ends: what may be
    /// compared with pins. Another that the server has sent along is not among them.
    public var signedCertificates: [Certificate] { ChainValidation(self).signedChain() }
}

// MARK: - Errors

/// Why a server's certificates were not accepted.
public struct ServerTrustError: Error, Sendable, Hashable {
    /// What was wrong. More codes may come; compare with those you handle.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String, Sendable {
            case noCertificates, expired, notYetValid, unknownAuthority, selfSigned, hostMismatch, revoked, weakKey
            case wrongUsage, invalidSignature, nameNotPermitted, revocationUnknown, noAuthorities, invalid
        }

        private let name: Name

        /// The code's name.
        public var description: String { name.rawValue }

        /// The server presented none.
        public static let noCertificates = Code(name: .noCertificates)
        /// A certificate has expired.
        public static let expired = Code(name: .expired)
        /// A certificate is not valid yet.
        public static let notYetValid = Code(name: .notYetValid)
        /// The chain ends in an authority that is not trusted, or is not complete.
        public static let unknownAuthority = Code(name: .unknownAuthority)
        /// The server's certificate is signed by itself, and not trusted.
        public static let selfSigned = Code(name: .selfSigned)
        /// The certificate is for other hosts.
        public static let hostMismatch = Code(name: .hostMismatch)
        /// A certificate is revoked.
        public static let revoked = Code(name: .revoked)
        /// A key, or the hash of a signature, is too weak.
        public static let weakKey = Code(name: .weakKey)
        /// A certificate is not for servers, or one that signs others may not.
        public static let wrongUsage = Code(name: .wrongUsage)
        /// A signature is wrong.
        public static let invalidSignature = Code(name: .invalidSignature)
        /// An authority may not sign for that name (RFC 5280, section 4.2.1.10).
        public static let nameNotPermitted = Code(name: .nameNotPermitted)
        /// Whether a certificate is revoked could not be found out.
        public static let revocationUnknown = Code(name: .revocationUnknown)
        /// There are no authorities to trust on this machine.
        public static let noAuthorities = Code(name: .noAuthorities)
        /// None of the above.
        public static let invalid = Code(name: .invalid)
    }

    /// What was wrong.
    public let code: Code
    /// What was wrong, in one line of words.
    public let message: String
    /// The certificate at fault, where one is known to be.
    public let certificate: Certificate?

    /// Makes an error.
    public init(_ code: Code, _ message: String, certificate: Certificate? = nil) {
        self.code = code
        self.message = message
        self.certificate = certificate
    }
}

extension ServerTrustError: LocalizedError, CustomStringConvertible {
    /// What was wrong, and with which certificate.
    public var description: String {
        (certificate.map { "\(message) (certificate of \($0.subject))" } ?? message).singleLine
    }

    /// The same line.
    public var errorDescription: String? { description }
}

extension ServerTrustError {
    static var noCertificates: Self { Self(.noCertificates, "the server presented no certificate") }

    static func hostMismatch(_ certificate: Certificate?, host: String) -> Self {
        let all = certificate?.subjectAlternativeNames ?? []
        let names = all.prefix(20).map(\.description).joined(separator: ", ") + (all.count > 20 ? " and more" : "")
        return Self(
            .hostMismatch, "the certificate is for \(names.isEmpty ? "no host" : names), not for \(host)",
            certificate: certificate)
    }
}

// MARK: - Certificate authorities

/// The certificates that a transport trusts. Their file is read when they are first needed, and then kept.
package final class CertificateAuthorities: @unchecked Sendable {
    // Sendable because what changes is behind the lock.
    /// The file of PEM certificates, if any.
    package let file: URL?
    /// Whether certificates must follow RFC 5280 to the letter (`X509_V_FLAG_X509_STRICT`).
    package let areStrict: Bool
    private let lock = NSLock()
    private var loaded: CertificateStore?

    /// - Parameters:
    ///   - file: A file of PEM certificates; nil for none.
    ///   - areStrict: Whether certificates must follow RFC 5280 to the letter.
    package init(file: URL?, areStrict: Bool = false) {
        self.file = file
        self.areStrict = areStrict
    }

    /// The operating system's file of trusted certificates; nil if it is in none of the usual places.
    package static let systemFile: URL? =
        [
            // Debian and Alpine, Fedora and Amazon Linux, SUSE, macOS.
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ].first { FileManager.default.isReadableFile(atPath: $0) }.map { URL(filePath: $0) }

    package func store() throws(CertificateError) -> CertificateStore {
        guard let file else { throw .noCertificateAuthorities("no file of them is known") }
        lock.lock()
        defer { lock.unlock() }
        if let loaded { return loaded }
        let store = try CertificateStore(file: file)
        loaded = store
        return store
    }
}
