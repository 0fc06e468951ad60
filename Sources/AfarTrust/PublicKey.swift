public import Foundation

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
