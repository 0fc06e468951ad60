public import Foundation

/// The certificates that a server presented in a TLS handshake, and the methods to validate them.
///
/// The handshake proves only that the server has the private key of its own certificate, the first one. Everything else must be validated.
/// Validation doesn't use the network, and can run on any thread.
public struct ServerTrust: Sendable {
    /// The host that the request was made to.
    public let host: String
    /// The certificates in the order in which the server sent them, starting with its own. A server can send any certificates
    /// after its own, so compare pins with ``signedCertificates`` instead.
    public let certificates: [Certificate]
    /// The OCSP response that the server sent with its certificates (RFC 6066, section 8), in DER form; nil if it sent none.
    public let stapledOCSPResponse: Data?
    /// The trust anchors. The chain must end in one of them. If the value is nil, the chain must end in an authority that the transport
    /// trusts. These authorities are usually the system's.
    public var anchors: [Certificate]?
    /// The revocation lists that every chain must satisfy. Several evaluators share these lists, so that all of them check the same chain.
    package var revocationLists: [Data] = []
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

    /// The public keys of ``certificates``.
    public var publicKeys: [PublicKey] { certificates.map(\.publicKey) }

    /// The result of ``validate()``.
    public var validation: Result<[Certificate], ServerTrustError> {
        Result { () throws(ServerTrustError) in try validate() }
    }

    /// Validates the certificate chain (RFC 5280, section 6).
    ///
    /// Checks the signatures, the dates, the permission to authenticate servers, the name constraints of the authorities, and the
    /// strength of keys and hashes. Also checks that the chain ends in one of the ``anchors`` or in a trusted authority. The certificate
    /// of an authority is rejected as a server's certificate, unless it is an anchor. The host name isn't checked: call
    /// ``validateHost(_:)``.
    ///
    /// - Returns: The chain, from the server's certificate to the trusted one.
    /// - Throws: An error that describes the first problem.
    @discardableResult
    public func validate() throws(ServerTrustError) -> [Certificate] {
        try ChainValidation(self).chain()
    }

    /// Checks that the server's certificate is valid for a host (RFC 9525).
    ///
    /// Only the certificate's alternative names are compared with the host, not its common name.
    ///
    /// - Parameter host: A host name or an IP address.
    /// - Throws: ``ServerTrustError/Code-swift.struct/hostMismatch``.
    public func validateHost(_ host: String) throws(ServerTrustError) {
        guard let certificate = certificates.first else { throw .noCertificates }
        guard try certificate.isValid(forHost: host) else {
            throw .hostMismatch(certificate, host: host)
        }
    }

    /// Validates the chain as ``validate()`` does, and checks that its certificates aren't revoked.
    ///
    /// - Parameters:
    ///   - lists: Revocation lists (RFC 5280, section 5), in DER or PEM form. If you pass lists, each authority in the chain must have a
    ///     list.
    ///   - usesStapledResponse: Whether to check the OCSP response that the server sent, if any. If there are no lists, a good response is
    ///     sufficient, even though it covers only the server's own certificate. The default is true.
    /// - Throws: ``ServerTrustError/Code-swift.struct/revoked``, ``ServerTrustError/Code-swift.struct/revocationUnknown`` if the status
    ///   can't be determined, or an error of ``validate()``.
    public func validateRevocation(lists: [Data] = [], usesStapledResponse: Bool = true) throws(ServerTrustError) {
        var trust = self
        trust.revocationLists += lists.filter { !revocationLists.contains($0) }
        let chain = try ChainValidation(trust).chain()
        if usesStapledResponse, let stapledOCSPResponse {
            try ChainValidation(trust).checkStatus(in: stapledOCSPResponse, of: chain)
            if lists.isEmpty { return }
        }
        guard !lists.isEmpty else {
            throw ServerTrustError(
                .revocationUnknown,
                "the server sent no OCSP response, and there is no revocation list: "
                    + "the revocation status of its certificate is unknown", certificate: chain.first)
        }
    }

    /// The server's certificate, followed by its issuers: each certificate signed the one before it. Compare pins with these certificates.
    ///
    /// The chain doesn't have to end in a trusted certificate. Unrelated certificates that the server sent are omitted.
    public var signedCertificates: [Certificate] {
        if !revocationLists.isEmpty, let chain = try? validate() { return chain }
        return ChainValidation(self).signedChain()
    }
}

/// The reason why a server's certificates were rejected.
public struct ServerTrustError: Error, Sendable, Hashable {
    /// The kind of a problem. Later versions can add codes, so compare a code only with the codes that you handle.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String, Sendable {
            case noCertificates, expired, notYetValid, unknownAuthority, selfSigned, hostMismatch, revoked, weakKey
            case wrongUsage, invalidSignature, nameNotPermitted, revocationUnknown, noAuthorities, invalid
        }

        private let name: Name

        /// The code's name.
        public var description: String { name.rawValue }

        /// The server presented no certificates.
        public static let noCertificates = Code(name: .noCertificates)
        /// A certificate has expired.
        public static let expired = Code(name: .expired)
        /// A certificate is not valid yet.
        public static let notYetValid = Code(name: .notYetValid)
        /// The chain is incomplete, or ends in an authority that is not trusted.
        public static let unknownAuthority = Code(name: .unknownAuthority)
        /// The server's certificate is self-signed and not trusted.
        public static let selfSigned = Code(name: .selfSigned)
        /// The certificate is not valid for the host.
        public static let hostMismatch = Code(name: .hostMismatch)
        /// A certificate is revoked.
        public static let revoked = Code(name: .revoked)
        /// A key, or the hash of a signature, is too weak.
        public static let weakKey = Code(name: .weakKey)
        /// The chain uses a certificate to authenticate a server or to sign other certificates, but the certificate doesn't permit that
        /// use.
        public static let wrongUsage = Code(name: .wrongUsage)
        /// A signature is invalid.
        public static let invalidSignature = Code(name: .invalidSignature)
        /// An authority is not permitted to sign certificates for a name (RFC 5280, section 4.2.1.10).
        public static let nameNotPermitted = Code(name: .nameNotPermitted)
        /// The revocation status of a certificate could not be determined.
        public static let revocationUnknown = Code(name: .revocationUnknown)
        /// There are no trusted authorities on this machine.
        public static let noAuthorities = Code(name: .noAuthorities)
        /// None of the other codes applies.
        public static let invalid = Code(name: .invalid)
    }

    /// The kind of the problem.
    public let code: Code
    /// A description of the problem on one line.
    public let message: String
    /// The certificate that caused the error, if known.
    public let certificate: Certificate?

    /// Creates an error.
    public init(_ code: Code, _ message: String, certificate: Certificate? = nil) {
        self.code = code
        self.message = message
        self.certificate = certificate
    }
}

extension ServerTrustError: LocalizedError, CustomStringConvertible {
    /// The message, followed by the subject of the certificate.
    public var description: String {
        (certificate.map { "\(message) (certificate of \($0.subject))" } ?? message).singleLine
    }

    /// The same text as ``description``.
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

/// The certificates that a transport trusts. The file is read when the certificates are first needed, and its contents stay in memory.
package final class CertificateAuthorities: @unchecked Sendable {
    // Sendable because the lock protects all mutable state.
    /// A file of PEM certificates, if any.
    package let file: URL?
    /// Whether certificates must conform strictly to RFC 5280 (`X509_V_FLAG_X509_STRICT`).
    package let areStrict: Bool
    private let lock = NSLock()
    private var loaded: CertificateStore?

    /// - Parameters:
    ///   - file: A file of PEM certificates, if any.
    ///   - areStrict: Whether certificates must conform strictly to RFC 5280. The default is false.
    package init(file: URL?, areStrict: Bool = false) {
        self.file = file
        self.areStrict = areStrict
    }

    /// The operating system's file of trusted certificates; nil if it isn't in any of the usual places.
    package static let systemFile: URL? =
        [
            // Debian and Alpine, Fedora and Amazon Linux, SUSE, macOS.
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ].first { FileManager.default.isReadableFile(atPath: $0) }.map { URL(filePath: $0) }

    package func store() throws(CertificateError) -> CertificateStore {
        guard let file else { throw .noCertificateAuthorities("no file of certificates was found") }
        lock.lock()
        defer { lock.unlock() }
        if let loaded { return loaded }
        let store = try CertificateStore(file: file)
        loaded = store
        return store
    }
}
