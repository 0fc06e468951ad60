public import Foundation

/// An X.509 certificate (RFC 5280), with its encoded bytes and its most important fields.
///
/// Reading a certificate doesn't validate it. To validate the certificates of a server, use ``ServerTrust``.
public struct Certificate: Sendable {
    /// The certificate in DER form.
    public let derEncoded: Data
    /// The distinguished name of the certificate's owner, on one line: "CN=example.com,O=Example".
    public let subject: String
    /// The distinguished name of the authority that signed the certificate, on one line.
    public let issuer: String
    /// The serial number that the issuer assigned, in hexadecimal digits.
    public let serialNumber: String
    /// The names and addresses that the certificate is valid for.
    public let subjectAlternativeNames: [SubjectAlternativeName]
    /// The date when the certificate becomes valid.
    public let notValidBefore: Date
    /// The date when the certificate expires.
    public let notValidAfter: Date
    /// The public key of the certificate's owner.
    public let publicKey: PublicKey
    /// A Boolean value that indicates whether the certificate can sign other certificates.
    public let isCertificateAuthority: Bool

    /// A name that a certificate is valid for (RFC 5280, section 4.2.1.6).
    public enum SubjectAlternativeName: Sendable, Hashable {
        /// A host name, which can begin with `*.`.
        case dns(String)
        /// An IP address, such as "192.0.2.1" or "2001:db8::1".
        case ipAddress(String)
        /// An email address.
        case email(String)
        /// A URI.
        case uri(String)
    }

    /// Creates a certificate from its DER form.
    ///
    /// - Throws: ``CertificateError/notACertificate(_:)``.
    public init(derEncoded: Data) throws(CertificateError) {
        self = try Self.read(derEncoded)
    }

    /// Returns the certificates in a PEM text (RFC 7468), in order. Other content of the text is ignored.
    ///
    /// - Throws: ``CertificateError/notACertificate(_:)`` if the text contains an invalid certificate or no certificate at all.
    public static func certificates(pemEncoded text: String) throws(CertificateError) -> [Certificate] {
        let certificates = try PEMBlock.blocks(in: text, labeled: "CERTIFICATE").map { block throws(CertificateError) in
            try Certificate(derEncoded: block)
        }
        guard !certificates.isEmpty else {
            throw .notACertificate("the text has no line \"-----BEGIN CERTIFICATE-----\"")
        }
        return certificates
    }

    /// Returns the certificates in a file: one in DER form, or any number in PEM form.
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

extension Certificate: Hashable {
    /// Returns a Boolean value that indicates whether two certificates have the same DER form.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.derEncoded == rhs.derEncoded }

    /// Hashes the DER form.
    public func hash(into hasher: inout Hasher) { hasher.combine(derEncoded) }
}

extension Certificate: CustomStringConvertible {
    /// The subject, the issuer and the expiration date.
    public var description: String {
        "\(subject), issued by \(issuer), valid until \(notValidAfter.formatted(.iso8601))".singleLine
    }
}

extension Certificate.SubjectAlternativeName: CustomStringConvertible {
    /// The name. Email addresses and URIs are prefixed with their type.
    public var description: String {
        switch self {
        case .dns(let name): name.singleLine
        case .ipAddress(let address): address
        case .email(let address): "email:\(address.singleLine)"
        case .uri(let uri): "uri:\(uri.singleLine)"
        }
    }
}

// MARK: - Public keys

/// A public key, identified by the SHA-256 hash of its `SubjectPublicKeyInfo` (RFC 5280, section 4.1).
///
/// Pins contain this hash. The hash stays the same when a certificate is renewed with the same key.
public struct PublicKey: Sendable {
    /// The SHA-256 hash of the `SubjectPublicKeyInfo` in DER form: 32 bytes.
    public let sha256: Data
    /// The `SubjectPublicKeyInfo` in DER form; nil if the key was created from a pin.
    public let derEncoded: Data?
    /// The algorithm and the size, such as "RSA 2048 bit"; nil if the key was created from a pin.
    public let algorithm: String?

    /// Creates a key from its pin.
    ///
    /// - Parameter pin: "sha256//" followed by the hash in Base64, the form that ``pin`` returns and curl accepts. The prefix can also be
    ///   "sha256/" or missing.
    /// - Throws: ``CertificateError/notAPublicKey(_:)`` if the text isn't the Base64 form of 32 bytes.
    public init(pin: String) throws(CertificateError) {
        // Try each prefix: a hash can begin with a slash.
        let hashes = ["sha256//", "sha256/", ""].filter { pin.hasPrefix($0) }.compactMap { prefix in
            Data(base64Encoded: String(pin.dropFirst(prefix.count)))
        }
        guard let hash = hashes.first(where: { $0.count == 32 }) else {
            throw .notAPublicKey("\"\(pin)\" is not \"sha256//\" and the Base64 of 32 bytes")
        }
        self.init(sha256: hash, derEncoded: nil, algorithm: nil)
    }

    /// Creates a key from its PEM form ("BEGIN PUBLIC KEY"), or from a `SubjectPublicKeyInfo` in DER form.
    ///
    /// - Throws: ``CertificateError/notAPublicKey(_:)``.
    public init(_ data: Data) throws(CertificateError) {
        let der = PEMBlock.text(in: data).map { PEMBlock.blocks(in: $0, labeled: "PUBLIC KEY").first ?? Data() }
        self = try Self.read(der ?? data)
    }

    init(sha256: Data, derEncoded: Data?, algorithm: String?) {
        self.sha256 = sha256
        self.derEncoded = derEncoded
        self.algorithm = algorithm
    }

    /// The pin of the key: "sha256//" followed by the hash in Base64.
    public var pin: String { "sha256//\(sha256.base64EncodedString())" }
}

extension PublicKey: Hashable {
    /// Returns a Boolean value that indicates whether two keys have the same hash.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.sha256 == rhs.sha256 }

    /// Hashes the SHA-256 hash of the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(sha256) }
}

extension PublicKey: CustomStringConvertible {
    /// The pin, followed by the algorithm if it is known.
    public var description: String { algorithm.map { "\(pin) (\($0))" } ?? pin }
}

// MARK: - Errors

/// An error that occurs while reading a certificate, a key, an identity or a list of authorities.
public enum CertificateError: Error, Sendable, Hashable {
    /// The file can't be read.
    case unreadableFile(URL, String)
    /// The data isn't a valid certificate.
    case notACertificate(String)
    /// The data isn't a valid public key, or the text isn't a valid pin.
    case notAPublicKey(String)
    /// The data isn't a supported private key.
    case notAPrivateKey(String)
    /// The passphrase for the key or the archive is wrong or missing.
    case wrongPassphrase
    /// The data isn't a PKCS#12 archive, or the archive contains no certificate or no matching key.
    case notAnIdentity(String)
    /// The private key and the certificate don't belong together.
    case keyMismatch
    /// The data isn't a valid certificate revocation list.
    case notARevocationList(String)
    /// The list of trusted certificate authorities is missing or unusable.
    case noCertificateAuthorities(String)
    /// Certificates aren't supported on this platform.
    case unsupported
}

extension CertificateError: LocalizedError, CustomStringConvertible {
    /// A description of the problem, and how to solve it.
    public var description: String {
        switch self {
        case .unreadableFile(let file, let cause): "the file \(file.path) cannot be read: \(cause)"
        case .notACertificate(let cause): "not a certificate in DER or PEM form: \(cause)"
        case .notAPublicKey(let cause): "not a public key: \(cause)"
        case .notAPrivateKey(let cause): "not a private key in PEM or DER form: \(cause)"
        case .wrongPassphrase: "the passphrase is wrong or missing"
        case .notAnIdentity(let cause): "not a PKCS#12 archive with a certificate and its key: \(cause)"
        case .keyMismatch: "the private key does not belong to the certificate"
        case .notARevocationList(let cause): "not a certificate revocation list in DER or PEM form: \(cause)"
        case .noCertificateAuthorities(let cause):
            "there are no trusted certificate authorities: \(cause). "
                + "Install the package ca-certificates, or specify a file of PEM certificates"
        case .unsupported: "certificates cannot be read on this platform"
        }
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - Files and texts

/// Reads and writes PEM text (RFC 7468).
enum PEMBlock {
    /// Returns the data as text if it contains a PEM block; nil otherwise.
    static func text(in data: Data) -> String? {
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the decoded contents of all blocks with a label. An unterminated or invalid block is returned as empty data, which every
    /// reader rejects.
    static func blocks(in text: String, labeled label: String) -> [Data] {
        var blocks: [Data] = []
        var lines: [Substring]?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingPrefix { $0 == " " || $0 == "\t" }
            if line.hasPrefix("-----BEGIN \(label)-----") {
                if lines != nil { blocks.append(Data()) }
                lines = []
            } else if line.hasPrefix("-----END \(label)-----"), let body = lines {
                blocks.append(Data(base64Encoded: body.joined(), options: .ignoreUnknownCharacters) ?? Data())
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        if lines != nil { blocks.append(Data()) }
        return blocks
    }

    static func text(of bytes: Data, labeled label: String) -> String {
        let body = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }
}

extension Data {
    /// - Throws: ``CertificateError/unreadableFile(_:_:)``.
    init(reading file: URL) throws(CertificateError) {
        do { try self.init(contentsOf: file) } catch {
            throw .unreadableFile(file, (error as NSError).localizedDescription)
        }
    }
}

extension String {
    /// The text on one line, with control characters escaped. Certificates can contain characters that control a terminal.
    var singleLine: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                        Array("\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
                    default: [scalar]
                    }
                }))
    }
}
