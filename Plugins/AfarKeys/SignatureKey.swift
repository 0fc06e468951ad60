public import Foundation

/// A key that signs, or that verifies signatures, with one algorithm.
///
/// ```swift
/// let key = try SignatureKey(privateKeyPEM: pem, algorithm: .ecdsaP256SHA256)
/// ```
///
/// A key is used with its own algorithm only, so a message can't choose a different one. The key is stored in memory without encryption.
/// Descriptions and errors don't contain it. Keys can be used from any thread.
public struct SignatureKey: Sendable {
    /// The algorithm of the key.
    public let algorithm: SignatureAlgorithm
    private let material: KeyMaterial

    private init(_ algorithm: SignatureAlgorithm, _ material: KeyMaterial) {
        (self.algorithm, self.material) = (algorithm, material)
    }

    /// A Boolean value that indicates whether the key can sign. A public key can only verify.
    public var canSign: Bool { material.canSign }

    // MARK: Creating keys

    /// Creates a key for ``SignatureAlgorithm/hmacSHA256``.
    ///
    /// - Parameter secret: The shared secret. It must have at least 16 bytes; 32 or more are recommended.
    /// - Throws: ``SignatureKeyError`` if the secret is too short.
    public init(secret: Data) throws(SignatureKeyError) {
        guard secret.count >= 16 else {
            throw SignatureKeyError("the secret has \(secret.count) bytes, but at least 16 are required")
        }
        self.init(.hmacSHA256, .secret(Secret(secret)))
    }

    /// Creates a private key from PEM (PKCS#8, or the older formats of RSA and EC keys).
    ///
    /// - Parameters:
    ///   - privateKeyPEM: The text, beginning with `-----BEGIN`.
    ///   - algorithm: The algorithm. It must match the kind of key.
    ///   - passphrase: The passphrase of an encrypted key. The default is nil. Apple platforms don't support encrypted keys.
    /// - Throws: ``SignatureKeyError`` if the text isn't a private key for this algorithm.
    public init(
        privateKeyPEM: String, algorithm: SignatureAlgorithm, passphrase: String? = nil
    ) throws(SignatureKeyError) {
        let key = try AsymmetricKey(privateKeyPEM: privateKeyPEM, for: algorithm, passphrase: passphrase)
        self.init(algorithm, .pair(key))
    }

    /// Creates a public key from PEM (`-----BEGIN PUBLIC KEY-----`).
    ///
    /// - Throws: ``SignatureKeyError`` if the text isn't a public key for this algorithm.
    public init(publicKeyPEM: String, algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
        self.init(algorithm, .pair(try AsymmetricKey(publicKeyPEM: publicKeyPEM, for: algorithm)))
    }

    /// Creates a private key from its raw bytes, for Ed25519 and ECDSA.
    ///
    /// - Parameters:
    ///   - rawPrivateKey: The seed of an Ed25519 key (32 bytes), or the private scalar of an ECDSA key (32 bytes for P-256, 48 for P-384).
    ///   - algorithm: ``SignatureAlgorithm/ed25519`` or one of the algorithms with ECDSA.
    /// - Throws: ``SignatureKeyError`` if the bytes aren't a private key for this algorithm.
    public init(rawPrivateKey: Data, algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
        self.init(algorithm, .pair(try AsymmetricKey(rawPrivateKey: rawPrivateKey, for: algorithm)))
    }

    /// Creates a public key from its raw bytes, for Ed25519 and ECDSA.
    ///
    /// - Parameters:
    ///   - rawPublicKey: An Ed25519 key (32 bytes), or an uncompressed point on the curve of an ECDSA key (0x04, then x and y).
    ///   - algorithm: ``SignatureAlgorithm/ed25519`` or one of the algorithms with ECDSA.
    /// - Throws: ``SignatureKeyError`` if the bytes aren't a public key for this algorithm.
    public init(rawPublicKey: Data, algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
        self.init(algorithm, .pair(try AsymmetricKey(rawPublicKey: rawPublicKey, for: algorithm)))
    }

    /// Creates a new random key. RSA keys have 3,072 bits, and secrets for HMAC have 32 bytes.
    ///
    /// - Throws: ``SignatureKeyError`` if the system's cryptographic library fails.
    public static func generate(_ algorithm: SignatureAlgorithm) throws(SignatureKeyError) -> SignatureKey {
        guard algorithm == .hmacSHA256 else {
            return SignatureKey(algorithm, .pair(try AsymmetricKey(generatedFor: algorithm)))
        }
        return try SignatureKey(secret: Data((0..<32).map { _ in .random(in: .min ... .max) }))
    }

    // MARK: Exporting keys

    /// The private key as PKCS#8 in PEM form, without a passphrase. On Apple platforms, RSA keys have the PKCS#1 form. The text is secret.
    ///
    /// - Throws: ``SignatureKeyError`` if the key is a public key or a shared secret.
    public func privateKeyPEM() throws(SignatureKeyError) -> String {
        guard case .pair(let key) = material, key.canSign else {
            throw SignatureKeyError("it contains no private key that can be exported")
        }
        return try key.privateKeyPEM()
    }

    /// The public key of a key pair.
    ///
    /// - Throws: ``SignatureKeyError`` if the algorithm is ``SignatureAlgorithm/hmacSHA256``, whose key is secret.
    public func publicKey() throws(SignatureKeyError) -> SignatureKey {
        try SignatureKey(publicKeyPEM: publicKeyPEM(), algorithm: algorithm)
    }

    /// The public key of a key pair in PEM form.
    ///
    /// - Throws: ``SignatureKeyError`` if the algorithm is ``SignatureAlgorithm/hmacSHA256``, whose key is secret.
    public func publicKeyPEM() throws(SignatureKeyError) -> String {
        guard case .pair(let key) = material else { throw SignatureKeyError("a shared secret has no public key") }
        return try key.publicKeyPEM()
    }

    // MARK: Signing and verifying

    /// Signs bytes.
    ///
    /// - Throws: ``SignatureKeyError`` if the key is a public key, or if the system's cryptographic library fails.
    public func signature(for bytes: Data) throws(SignatureKeyError) -> Data {
        switch material {
        case .secret(let secret): return try secret.code(for: bytes)
        case .pair(let key):
            guard key.canSign else { throw SignatureKeyError("a public key can't sign") }
            return try key.signature(for: bytes)
        }
    }

    /// Returns a Boolean value that indicates whether a signature of the bytes was made with this key, or with the private key of this
    /// public key. HMAC values are compared in constant time.
    public func isValid(_ signature: Data, for bytes: Data) -> Bool {
        switch material {
        case .secret(let secret):
            guard let code = try? secret.code(for: bytes) else { return false }
            return Hashing.equalInConstantTime(code, signature)
        case .pair(let key): return key.isValid(signature, for: bytes)
        }
    }
}

extension SignatureKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of key and its algorithm. A description never contains the key.
    public var description: String { "\(canSign ? "private" : "public") key for \(algorithm.rawValue)" }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror that contains the algorithm, but not the key.
    public var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm.rawValue]) }
}

/// An error that is thrown for a key that can't be created or used. The description doesn't contain the key.
public struct SignatureKeyError: Error, LocalizedError, CustomStringConvertible {
    private let reason: String

    init(_ reason: String) { self.reason = reason }

    /// A human-readable description of the error.
    public var description: String { "The signature key can't be used: \(reason)." }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

private enum KeyMaterial: Sendable {
    case secret(Secret)
    case pair(AsymmetricKey)

    var canSign: Bool {
        switch self {
        case .secret: true
        case .pair(let key): key.canSign
        }
    }
}

/// A secret for HMAC. Descriptions don't contain it.
private struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    private let bytes: Data

    init(_ bytes: Data) { self.bytes = Data(bytes) }

    func code(for message: Data) throws(SignatureKeyError) -> Data {
        guard let code = Hashing.hmacSHA256(of: message, key: bytes) else { throw .unavailable("HMAC") }
        return code
    }

    var description: String { "secret" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension SignatureKeyError {
    /// The error of a function that OpenSSL doesn't provide, for example in FIPS mode.
    public static func unavailable(_ function: String) -> SignatureKeyError {
        SignatureKeyError("the system's cryptographic library doesn't provide \(function)")
    }
}
