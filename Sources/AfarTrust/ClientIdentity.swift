public import Foundation

/// A certificate and its private key, with which a client shows who it is when a server asks (RFC 8446, section 4.3.2).
///
/// The key is in memory as it is; descriptions do not show it.
public struct ClientIdentity: Sendable, Hashable {
    /// The client's certificate.
    public let certificate: Certificate
    /// The certificates between the client's and a root, the client's issuer first. They are sent along.
    public let intermediates: [Certificate]
    /// The private key as PKCS#8 in DER form, without a passphrase.
    private let privateKey: Data

    /// Reads certificates and a key.
    ///
    /// - Parameters:
    ///   - certificates: In PEM form, the client's own first; or one in DER form.
    ///   - privateKey: The key of the first certificate, in PEM form (PKCS#8, or the older forms) or as PKCS#8 in DER form.
    ///   - passphrase: Opens the key if it is encrypted.
    /// - Throws: ``CertificateError`` when one cannot be read, the passphrase is wrong, or the two do not belong together.
    public init(certificates: Data, privateKey: Data, passphrase: String? = nil) throws(CertificateError) {
        let all =
            if let text = PEMBlock.text(in: certificates) {
                try Certificate.certificates(pemEncoded: text)
            } else {
                [try Certificate(derEncoded: certificates)]
            }
        self = try Self.make(all, privateKey: privateKey, passphrase: passphrase)
    }

    /// Reads files of certificates and of a key, in the forms that ``init(certificates:privateKey:passphrase:)`` takes.
    ///
    /// - Parameters:
    ///   - certificateFile: The certificates.
    ///   - keyFile: The key; nil when the first file has it too, in PEM form.
    ///   - passphrase: Opens the key if it is encrypted.
    /// - Throws: ``CertificateError``.
    public init(certificateFile: URL, keyFile: URL? = nil, passphrase: String? = nil) throws(CertificateError) {
        let certificates = try Data(reading: certificateFile)
        let key = if let keyFile { try Data(reading: keyFile) } else { certificates }
        try self.init(certificates: certificates, privateKey: key, passphrase: passphrase)
    }

    /// Reads a PKCS#12 archive (RFC 7292).
    ///
    /// - Parameters:
    ///   - pkcs12: The archive's bytes, of a `.p12` or `.pfx` file.
    ///   - passphrase: Opens the archive.
    /// - Throws: ``CertificateError/wrongPassphrase``, ``CertificateError/notAnIdentity(_:)``.
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
    /// The certificate; never the key.
    public var description: String { "client identity \(certificate)" }

    /// The certificate; never the key.
    public var debugDescription: String { description }

    /// The certificate; never the key.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate]) }
}
