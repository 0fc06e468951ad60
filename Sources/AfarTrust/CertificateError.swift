public import Foundation

/// Why a certificate, a key or an identity could not be read.
public enum CertificateError: Error, Sendable, Hashable {
    /// The file cannot be read.
    case unreadableFile(URL, String)
    /// The bytes are no certificate.
    case notACertificate(String)
    /// The bytes are no public key, or the text is no pin.
    case notAPublicKey(String)
    /// The bytes are no private key that can be used.
    case notAPrivateKey(String)
    /// The passphrase does not open the key or the archive, or it needs one and got none.
    case wrongPassphrase
    /// The bytes are no PKCS#12 archive, or it lacks a certificate or its key.
    case notAnIdentity(String)
    /// The private key is not that of the certificate.
    case keyMismatch
    /// The bytes are no certificate revocation list.
    case notARevocationList(String)
    /// The file of trusted authorities cannot be used.
    case noCertificateAuthorities(String)
    /// This platform has nothing that reads certificates.
    case unsupported
}

extension CertificateError: LocalizedError, CustomStringConvertible {
    /// What was wrong, and what to do about it.
    public var description: String {
        switch self {
        case .unreadableFile(let file, let cause): "the file \(file.path) cannot be read: \(cause)"
        case .notACertificate(let cause): "not a certificate in DER or PEM form: \(cause)"
        case .notAPublicKey(let cause): "not a public key: \(cause)"
        case .notAPrivateKey(let cause): "not a private key in PEM or DER form: \(cause)"
        case .wrongPassphrase: "the passphrase does not open it"
        case .notAnIdentity(let cause): "not a PKCS#12 archive with a certificate and its key: \(cause)"
        case .keyMismatch: "the private key is not that of the certificate"
        case .notARevocationList(let cause): "not a certificate revocation list in DER or PEM form: \(cause)"
        case .noCertificateAuthorities(let cause):
            "there are no certificate authorities to trust: \(cause). "
                + "Install the package ca-certificates, or name a file of PEM certificates"
        case .unsupported: "certificates cannot be read on this platform"
        }
    }

    /// The same sentence.
    public var errorDescription: String? { description }
}
