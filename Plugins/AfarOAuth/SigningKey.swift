public import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

/// A private key in memory: ECDSA with P-256 and SHA-256 (`ES256`), or on Linux also RSA with SHA-256 (`RS256`).
///
/// Descriptions don't contain the key. You can use a key from several threads.
public struct SigningKey: OAuthSigner {
    /// `ES256` or `RS256`.
    public let algorithm: String
    /// The required members of the public key (RFC 7638, section 3.2).
    public let publicJWK: [String: String]
    private let key: Key

    /// Generates a key for P-256.
    ///
    /// - Throws: ``OAuthError/invalidKey(_:)`` if the system's library fails.
    public static func p256() throws(OAuthError) -> SigningKey { try SigningKey(key: .generate()) }

    /// Reads a key in PEM form (PKCS#8 or an older format), without a passphrase.
    ///
    /// - Throws: ``OAuthError/invalidKey(_:)`` if the text contains no key for P-256 and no RSA key with at least 2,048 bits.
    public init(pem: String) throws(OAuthError) { try self.init(key: Key(pem: pem)) }

    private init(key: Key) throws(OAuthError) {
        self.key = key
        (algorithm, publicJWK) = try key.publicForm()
    }

    /// The key as PKCS#8 in PEM form, without a passphrase. It is secret.
    ///
    /// Store it if refresh tokens are bound to the key (RFC 9449, section 5).
    public var pemRepresentation: String {
        get throws(OAuthError) { try key.pem() }
    }

    /// Returns the signature of data (RFC 7518, sections 3.3 and 3.4).
    ///
    /// - Throws: ``OAuthError/invalidKey(_:)`` if the system's library fails.
    public func sign(_ data: Data) throws -> Data { try key.sign(data) }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The algorithm. The text doesn't contain the key.
    public var description: String { "\(algorithm) key" }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// A mirror without the key.
    public var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm]) }
}

#if canImport(CryptoKit)
    private struct Key: Sendable {
        private let key: P256.Signing.PrivateKey

        static func generate() -> Key { Key(key: P256.Signing.PrivateKey()) }

        private init(key: P256.Signing.PrivateKey) { self.key = key }

        init(pem: String) throws(OAuthError) {
            guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
                throw .invalidKey("It isn't a key for P-256 in PEM form without a passphrase.")
            }
            self.key = key
        }

        func publicForm() -> (algorithm: String, jwk: [String: String]) {
            let point = key.publicKey.rawRepresentation
            return (
                "ES256",
                [
                    "kty": "EC", "crv": "P-256", "x": point.prefix(32).base64URLText,
                    "y": point.suffix(32).base64URLText,
                ]
            )
        }

        func pem() -> String { key.pemRepresentation }

        func sign(_ data: Data) throws -> Data { try key.signature(for: data).rawRepresentation }
    }
#else
    private final class Key: @unchecked Sendable {
        // Sendable because OpenSSL permits concurrent signatures with one key, which is never changed.
        private let raw: OpaquePointer

        private init(_ raw: OpaquePointer) { self.raw = raw }

        deinit { EVP_PKEY_free(raw) }

        static func generate() throws(OAuthError) -> Key {
            let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
            defer { EVP_PKEY_CTX_free(context) }
            var raw: OpaquePointer?
            guard context != nil, EVP_PKEY_keygen_init(context) == 1,
                EVP_PKEY_CTX_set_group_name(context, "P-256") == 1, EVP_PKEY_generate(context, &raw) == 1, let raw
            else { throw failure("OpenSSL can't generate a key for P-256.") }
            return Key(raw)
        }

        convenience init(pem: String) throws(OAuthError) {
            let buffer = BIO_new(BIO_s_mem())
            defer { BIO_free(buffer) }
            let bytes = Array(pem.utf8)
            guard buffer != nil, BIO_write(buffer, bytes, Int32(clamping: bytes.count)) == bytes.count,
                let raw = afar_read_private_key(buffer, nil)
            else { throw Self.failure("It isn't a private key in PEM form without a passphrase.") }
            self.init(raw)
        }

        /// Returns an error, and clears OpenSSL's, which would be reported as the cause of the next failure.
        private static func failure(_ reason: String) -> OAuthError {
            ERR_clear_error()
            return .invalidKey(reason)
        }

        private var isRSA: Bool { EVP_PKEY_is_a(raw, "RSA") == 1 }

        func publicForm() throws(OAuthError) -> (algorithm: String, jwk: [String: String]) {
            if isRSA {
                guard EVP_PKEY_get_bits(raw) >= 2_048 else {
                    throw .invalidKey("RSA keys must have at least 2,048 bits.")
                }
                let (modulus, exponent) = (try number("n"), try number("e"))
                return ("RS256", ["kty": "RSA", "n": modulus.base64URLText, "e": exponent.base64URLText])
            }
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard EVP_PKEY_is_a(raw, "EC") == 1, EVP_PKEY_get_group_name(raw, &name, name.count, &length) == 1,
                String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) == "prime256v1"
            else { throw Self.failure("It is neither a key for P-256 nor an RSA key.") }
            func coordinate(_ name: String) throws(OAuthError) -> String {
                let bytes = try number(name)
                return (Data(count: max(0, 32 - bytes.count)) + bytes).base64URLText
            }
            return ("ES256", ["kty": "EC", "crv": "P-256", "x": try coordinate("qx"), "y": try coordinate("qy")])
        }

        /// Returns a number of the key as bytes, the most significant first.
        private func number(_ name: String) throws(OAuthError) -> Data {
            var number: OpaquePointer?
            guard EVP_PKEY_get_bn_param(raw, name, &number) == 1, let number else {
                throw Self.failure("Its public key can't be read.")
            }
            defer { BN_free(number) }
            var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
            let count = BN_bn2bin(number, &bytes)
            return Data(bytes.prefix(Int(count)))
        }

        func pem() throws(OAuthError) -> String {
            let buffer = BIO_new(BIO_s_mem())
            defer { BIO_free(buffer) }
            var text: UnsafePointer<CChar>?
            guard buffer != nil, PEM_write_bio_PKCS8PrivateKey(buffer, raw, nil, nil, 0, nil, nil) == 1 else {
                throw Self.failure("OpenSSL can't write it.")
            }
            let count = afar_bio_contents(buffer, &text)
            guard let text else { throw .invalidKey("OpenSSL can't write it.") }
            return String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
        }

        func sign(_ data: Data) throws(OAuthError) -> Data {
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            let bytes = Array(data)
            var count = 0
            guard context != nil, EVP_DigestSignInit(context, nil, EVP_sha256(), nil, raw) == 1,
                EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
            else { throw Self.failure("OpenSSL can't sign with it.") }
            var signature = [UInt8](repeating: 0, count: count)
            guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else {
                throw Self.failure("OpenSSL can't sign with it.")
            }
            guard !isRSA else { return Data(signature.prefix(count)) }
            guard let raw = Self.concatenation(ofDER: signature.prefix(count)) else {
                throw .invalidKey("OpenSSL returned an invalid signature.")
            }
            return raw
        }

        /// Converts an ECDSA signature in DER form (RFC 3279, section 2.2.3) to the concatenation of r and s.
        private static func concatenation(ofDER der: ArraySlice<UInt8>) -> Data? {
            var rest = der
            func header(_ tag: UInt8) -> Int? {
                guard rest.popFirst() == tag, let length = rest.popFirst(), length < 0x80, rest.count >= length else {
                    return nil
                }
                return Int(length)
            }
            guard header(0x30) == rest.count else { return nil }
            var result = Data()
            for _ in 0..<2 {
                guard let length = header(0x02) else { return nil }
                let number = rest.prefix(length).drop { $0 == 0 }
                guard number.count <= 32 else { return nil }
                result += Data(count: 32 - number.count) + number
                rest = rest.dropFirst(length)
            }
            return result
        }
    }
#endif
