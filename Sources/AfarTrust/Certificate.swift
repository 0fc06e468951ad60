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

// MARK: - Public keys

/// A public key, known by the SHA-256 of its `SubjectPublicKeyInfo` (RFC 5280, section 4.1): what pins are made of. It
/// stays the same when a certificate is renewed with the same key.
public struct PublicKey: Sendable {
    /// The 32 bytes of the SHA-256 over the `SubjectPublicKeyInfo` in DER form.
    public let sha256: Data
    /// The `SubjectPublicKeyInfo` in DER form; nil for a key of which only the hash is known.
    public let derEncoded: Data?
    /// The algorithm and the size, "RSA 2048 bit" say; nil for a key of which only the hash is known.
    public let algorithm: String?

    /// A key by its pin, in the form that ``pin`` has and curl takes: "sha256//" and the hash in Base64. Without the
    /// prefix, or with "sha256/", it is read too.
    ///
    /// - Throws: ``CertificateError/notAPublicKey(_:)`` when that is not the Base64 of 32 bytes.
    public init(pin: String) throws(CertificateError) {
        // The hash may begin with a slash itself.
        let hashes = ["sha256//", "sha256/", ""].filter { pin.hasPrefix($0) }.compactMap { prefix in
            Data(base64Encoded: String(pin.dropFirst(prefix.count)))
        }
        guard let hash = hashes.first(where: { $0.count == 32 }) else {
            throw .notAPublicKey("\"\(pin)\" is not \"sha256//\" and the Base64 of 32 bytes")
        }
        self.init(sha256: hash, derEncoded: nil, algorithm: nil)
    }

    /// Reads a key in PEM form ("BEGIN PUBLIC KEY") or as a `SubjectPublicKeyInfo` in DER form.
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

    /// "sha256//" and the hash in Base64.
    public var pin: String { "sha256//\(sha256.base64EncodedString())" }
}

/// Two keys are equal when their hashes are.
extension PublicKey: Hashable {
    /// Whether both have the same hash.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.sha256 == rhs.sha256 }

    /// Adds the hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(sha256) }
}

extension PublicKey: CustomStringConvertible {
    /// The pin, and the algorithm where it is known.
    public var description: String { algorithm.map { "\(pin) (\($0))" } ?? pin }
}

// MARK: - Errors

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

// MARK: - Files and texts

/// Bytes in a text, between two lines that name what they are (RFC 7468).
enum PEMBlock {
    /// The text of a file, if it has such lines.
    static func text(in data: Data) -> String? {
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The bytes of all blocks with a label. One that does not end, or is no Base64, gives no bytes, which nobody can read.
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
    /// This text in one line that steers no terminal: a certificate can say anything.
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
