public import Foundation

/// A certificate and its private key, which identify a client to servers that request a certificate (RFC 8446, section 4.3.2).
///
/// The key is stored in memory without encryption. Descriptions don't contain it.
public struct ClientIdentity: Sendable, Hashable {
    /// The client's certificate.
    public let certificate: Certificate
    /// The certificates between the client's certificate and a root, starting with the client's issuer. The server receives them too.
    public let intermediates: [Certificate]
    /// The private key as PKCS#8 in DER form, without a passphrase.
    private let privateKey: Data

    /// Creates an identity from certificates and a key.
    ///
    /// - Parameters:
    ///   - certificates: The certificates in PEM form, starting with the client's own, or one certificate in DER form.
    ///   - privateKey: The key of the first certificate, in PEM form (PKCS#8 or an older format) or as PKCS#8 in DER form.
    ///   - passphrase: The passphrase of an encrypted key. The default is nil.
    /// - Throws: ``CertificateError`` if a certificate or the key is invalid, the passphrase is wrong, or the key doesn't belong to the
    ///   first certificate.
    public init(certificates: Data, privateKey: Data, passphrase: String? = nil) throws(CertificateError) {
        let all =
            if let text = PEMBlock.text(in: certificates) {
                try Certificate.certificates(pemEncoded: text)
            } else {
                [try Certificate(derEncoded: certificates)]
            }
        self = try Self.make(all, privateKey: privateKey, passphrase: passphrase)
    }

    /// Creates an identity from a file of certificates and a key file, in the formats of ``init(certificates:privateKey:passphrase:)``.
    ///
    /// - Parameters:
    ///   - certificateFile: The file of certificates.
    ///   - keyFile: The key file. The default is nil: the certificate file also contains the key, in PEM form.
    ///   - passphrase: The passphrase of an encrypted key. The default is nil.
    /// - Throws: ``CertificateError``.
    public init(certificateFile: URL, keyFile: URL? = nil, passphrase: String? = nil) throws(CertificateError) {
        let certificates = try Data(reading: certificateFile)
        let key = if let keyFile { try Data(reading: keyFile) } else { certificates }
        try self.init(certificates: certificates, privateKey: key, passphrase: passphrase)
    }

    /// Creates an identity from a PKCS#12 archive (RFC 7292).
    ///
    /// - Parameters:
    ///   - pkcs12: The contents of a `.p12` or `.pfx` file.
    ///   - passphrase: The passphrase of the archive.
    /// - Throws: ``CertificateError/wrongPassphrase`` or ``CertificateError/notAnIdentity(_:)``.
    public init(pkcs12: Data, passphrase: String) throws(CertificateError) {
        self = try Self.read(pkcs12: pkcs12, passphrase: passphrase)
    }

    /// The private key as PKCS#8 in PEM form, without a passphrase.
    package var pemEncodedPrivateKey: String { PEMBlock.text(of: privateKey, labeled: "PRIVATE KEY") }

    init(certificate: Certificate, intermediates: [Certificate], privateKey: Data) {
        self.certificate = certificate
        self.intermediates = intermediates
        self.privateKey = privateKey
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A description of the certificate. It never contains the key.
    public var description: String { "client identity \(certificate)" }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror that contains the certificate, but not the key.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate]) }
}
