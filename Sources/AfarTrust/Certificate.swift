public import Foundation

/// An X.509 certificate (RFC 5280): its bytes, and what they say.
///
/// A certificate is only a claim. Whether to believe it is for ``ServerTrust`` to find out.
public struct Certificate: Sendable {
    /// The certificate in DER form.
    public let derEncoded: Data
    /// Whom the certificate is about, as one line: "CN=example.com,O=Example".
    public let subject: String
    /// Who signed it, as one line.
    public let issuer: String
    /// The number that its issuer gave it, in hexadecimal digits.
    public let serialNumber: String
    /// The names that it is for.
    public let subjectAlternativeNames: [SubjectAlternativeName]
    /// From when on it is valid.
    public let notValidBefore: Date
    /// Until when it is valid.
    public let notValidAfter: Date
    /// The key that it vouches for.
    public let publicKey: PublicKey
    /// Whether it may sign other certificates.
    public let isCertificateAuthority: Bool

    /// A name that a certificate is for (RFC 5280, section 4.2.1.6).
    public enum SubjectAlternativeName: Sendable, Hashable {
        /// A host's name, which may begin with `*.`.
        case dns(String)
        /// An address, "192.0.2.1" or "2001:db8::1".
        case ipAddress(String)
        /// An address of e-mail.
        case email(String)
        /// A URI.
        case uri(String)
    }

    /// Reads a certificate in DER form.
    ///
    /// - Throws: ``CertificateError/notACertificate(_:)``.
    public init(derEncoded: Data) throws(CertificateError) {
        self = try Self.read(derEncoded)
    }

    /// Reads the certificates of a text in PEM form (RFC 7468), in order; other things in it are passed over.
    ///
    /// - Throws: ``CertificateError/notACertificate(_:)`` for one that cannot be read, and when there is none.
    public static func certificates(pemEncoded text: String) throws(CertificateError) -> [Certificate] {
        let certificates = try PEMBlock.blocks(in: text, labeled: "CERTIFICATE").map { block throws(CertificateError) in
            try Certificate(derEncoded: block)
        }
        guard !certificates.isEmpty else {
            throw .notACertificate("the text has no line \"-----BEGIN CERTIFICATE-----\"")
        }
        return certificates
    }

    /// Reads the certificates of a file: one in DER form, or any number in PEM form.
    ///
    /// - Throws: ``CertificateError``.
    public static func certificates(contentsOf file: URL) throws(CertificateError) -> [Certificate] {
        let data = try Data(reading: file)
        if let text = PEMBlock.text(in: data) { return try certificates(pemEncoded: text) }
        return [try Certificate(derEncoded: data)]
    }

    /// The certificate in PEM form (RFC 7468), with a line break at the end.
    public var pemEncoded: String { PEMBlock.text(of: derEncoded, labeled: "CERTIFICATE") }

    init(
        derEncoded: Data, subject: String, issuer: String, serialNumber: String,
        subjectAlternativeNames: [SubjectAlternativeName], validity: (from: Date, to: Date), publicKey: PublicKey,
        isCertificateAuthority: Bool
    ) {
        self.derEncoded = derEncoded
        self.subject = subject
        self.issuer = issuer
        self.serialNumber = serialNumber
        self.subjectAlternativeNames = subjectAlternativeNames
        (notValidBefore, notValidAfter) = validity
        self.publicKey = publicKey
        self.isCertificateAuthority = isCertificateAuthority
    }
}

/// Two certificates are equal when their bytes are.
extension Certificate: Hashable {
    /// Whether both have the same bytes.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.derEncoded == rhs.derEncoded }

    /// Adds the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(derEncoded) }
}

extension Certificate: CustomStringConvertible {
    /// Whom it is about, who signed it, and until when it is valid.
    public var description: String {
        "\(subject), issued by \(issuer), valid until \(notValidAfter.formatted(.iso8601))".singleLine
    }
}

extension Certificate.SubjectAlternativeName: CustomStringConvertible {
    /// The name, with its kind before all but host names and addresses.
    public var description: String {
        switch self {
        case .dns(let name): name.singleLine
        case .ipAddress(let address): address
        case .email(let address): "email:\(address.singleLine)"
        case .uri(let uri): "uri:\(uri.singleLine)"
        }
    }
}
