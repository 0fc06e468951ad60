#if canImport(CryptoKit)
    import CryptoKit
    import Foundation
    import Security

    /// A public key or key pair of CryptoKit or of the Security framework.
    final class AsymmetricKey: @unchecked Sendable {
        // Sendable because keys of the Security framework are immutable.
        private enum Key {
            case ed25519(Curve25519.Signing.PublicKey, Curve25519.Signing.PrivateKey?)
            case p256(P256.Signing.PublicKey, P256.Signing.PrivateKey?)
            case p384(P384.Signing.PublicKey, P384.Signing.PrivateKey?)
            case rsa(SecKey, SecKey?)
        }

        private let key: Key
        private let algorithm: SignatureAlgorithm

        private init(_ key: Key, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            (self.key, self.algorithm) = (key, algorithm)
            guard case .rsa(let publicKey, _) = key else { return }
            let size = (SecKeyGetBlockSize(publicKey)) * 8
            guard (2_048...16_384).contains(size) else {
                throw SignatureKeyError("the RSA key has \(size) bits, but 2,048 to 16,384 are required")
            }
        }

        var canSign: Bool {
            switch key {
            case .ed25519(_, let key): key != nil
            case .p256(_, let key): key != nil
            case .p384(_, let key): key != nil
            case .rsa(_, let key): key != nil
            }
        }

        // MARK: Creation

        convenience init(
            privateKeyPEM: String, for algorithm: SignatureAlgorithm, passphrase: String?
        ) throws(SignatureKeyError) {
            let invalid = SignatureKeyError(
                "the text isn't a private key in PEM form for \(algorithm.rawValue), or it is encrypted")
            let key: Key
            do {
                switch algorithm {
                case .hmacSHA256: throw invalid
                case .ed25519:
                    guard let raw = PEM(privateKeyPEM).map(\.der)?.suffix(32) else { throw invalid }
                    let encoding = try KeyEncoding.privateKey(Data(raw), for: .ed25519)
                    guard PEM(privateKeyPEM)?.der == encoding else { throw invalid }
                    let secret = try Curve25519.Signing.PrivateKey(rawRepresentation: raw)
                    key = .ed25519(secret.publicKey, secret)
                case .ecdsaP256SHA256:
                    let secret = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
                    key = .p256(secret.publicKey, secret)
                case .ecdsaP384SHA384:
                    let secret = try P384.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
                    key = .p384(secret.publicKey, secret)
                case .rsaPSSSHA512, .rsaPKCS1SHA256:
                    guard let pem = PEM(privateKeyPEM), let der = pem.rsaPrivateKey,
                        let secret = Self.rsa(der, kSecAttrKeyClassPrivate), let open = SecKeyCopyPublicKey(secret)
                    else { throw invalid }
                    key = .rsa(open, secret)
                }
            } catch {
                throw invalid
            }
            try self.init(key, for: algorithm)
        }

        convenience init(publicKeyPEM: String, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            let invalid = SignatureKeyError("the text isn't a public key in PEM form for \(algorithm.rawValue)")
            let key: Key
            do {
                switch algorithm {
                case .hmacSHA256: throw invalid
                case .ed25519:
                    guard let der = PEM(publicKeyPEM)?.der else { throw invalid }
                    let raw = Data(der.suffix(32))
                    guard try KeyEncoding.publicKey(raw, for: .ed25519) == der else { throw invalid }
                    key = .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: raw), nil)
                case .ecdsaP256SHA256: key = .p256(try P256.Signing.PublicKey(pemRepresentation: publicKeyPEM), nil)
                case .ecdsaP384SHA384: key = .p384(try P384.Signing.PublicKey(pemRepresentation: publicKeyPEM), nil)
                case .rsaPSSSHA512, .rsaPKCS1SHA256:
                    guard let der = PEM(publicKeyPEM)?.rsaPublicKey, let open = Self.rsa(der, kSecAttrKeyClassPublic)
                    else { throw invalid }
                    key = .rsa(open, nil)
                }
            } catch {
                throw invalid
            }
            try self.init(key, for: algorithm)
        }

        convenience init(rawPrivateKey: Data, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            let invalid = SignatureKeyError("the bytes aren't a private key for \(algorithm.rawValue)")
            let key: Key
            do {
                switch algorithm {
                case .ed25519:
                    let secret = try Curve25519.Signing.PrivateKey(rawRepresentation: rawPrivateKey)
                    key = .ed25519(secret.publicKey, secret)
                case .ecdsaP256SHA256:
                    let secret = try P256.Signing.PrivateKey(rawRepresentation: rawPrivateKey)
                    key = .p256(secret.publicKey, secret)
                case .ecdsaP384SHA384:
                    let secret = try P384.Signing.PrivateKey(rawRepresentation: rawPrivateKey)
                    key = .p384(secret.publicKey, secret)
                case .hmacSHA256, .rsaPSSSHA512, .rsaPKCS1SHA256: throw invalid
                }
            } catch {
                throw invalid
            }
            try self.init(key, for: algorithm)
        }

        convenience init(rawPublicKey: Data, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            let invalid = SignatureKeyError("the bytes aren't a public key for \(algorithm.rawValue)")
            let key: Key
            do {
                switch algorithm {
                case .ed25519: key = .ed25519(try Curve25519.Signing.PublicKey(rawRepresentation: rawPublicKey), nil)
                case .ecdsaP256SHA256: key = .p256(try P256.Signing.PublicKey(x963Representation: rawPublicKey), nil)
                case .ecdsaP384SHA384: key = .p384(try P384.Signing.PublicKey(x963Representation: rawPublicKey), nil)
                case .hmacSHA256, .rsaPSSSHA512, .rsaPKCS1SHA256: throw invalid
                }
            } catch {
                throw invalid
            }
            try self.init(key, for: algorithm)
        }

        convenience init(generatedFor algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            let key: Key
            switch algorithm {
            case .ed25519:
                let secret = Curve25519.Signing.PrivateKey()
                key = .ed25519(secret.publicKey, secret)
            case .ecdsaP256SHA256:
                let secret = P256.Signing.PrivateKey()
                key = .p256(secret.publicKey, secret)
            case .ecdsaP384SHA384:
                let secret = P384.Signing.PrivateKey()
                key = .p384(secret.publicKey, secret)
            case .hmacSHA256, .rsaPSSSHA512, .rsaPKCS1SHA256:
                let attributes: [CFString: Any] = [
                    kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 3_072,
                ]
                guard let secret = SecKeyCreateRandomKey(attributes as CFDictionary, nil),
                    let open = SecKeyCopyPublicKey(secret)
                else { throw .unavailable(algorithm.rawValue) }
                key = .rsa(open, secret)
            }
            try self.init(key, for: algorithm)
        }

        private static func rsa(_ der: Data, _ keyClass: CFString) -> SecKey? {
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: keyClass]
            return SecKeyCreateWithData(der as CFData, attributes as CFDictionary, nil)
        }

        func publicKeyPEM() throws(SignatureKeyError) -> String {
            switch key {
            case .ed25519(let key, _):
                return PEM.text(of: try KeyEncoding.publicKey(key.rawRepresentation, for: .ed25519))
            case .p256(let key, _): return key.pemRepresentation
            case .p384(let key, _): return key.pemRepresentation
            case .rsa(let key, _):
                guard let der = SecKeyCopyExternalRepresentation(key, nil) as Data? else {
                    throw SignatureKeyError("the public key can't be exported")
                }
                return PEM.text(of: PEM.publicKeyInfo(ofRSA: der))
            }
        }

        func privateKeyPEM() throws(SignatureKeyError) -> String {
            let failure = SignatureKeyError("the private key can't be exported")
            switch key {
            case .ed25519(_, let secret?):
                return PEM.text(
                    of: try KeyEncoding.privateKey(secret.rawRepresentation, for: .ed25519), label: "PRIVATE KEY")
            case .p256(_, let secret?): return secret.pemRepresentation
            case .p384(_, let secret?): return secret.pemRepresentation
            case .rsa(_, let secret?):
                guard let der = SecKeyCopyExternalRepresentation(secret, nil) as Data? else { throw failure }
                return PEM.text(of: der, label: "RSA PRIVATE KEY")
            default: throw failure
            }
        }

        // MARK: Signatures

        func signature(for bytes: Data) throws(SignatureKeyError) -> Data {
            let failure = SignatureKeyError.unavailable(algorithm.rawValue)
            do {
                switch key {
                case .ed25519(_, let secret?): return try secret.signature(for: bytes)
                case .p256(_, let secret?): return try secret.signature(for: bytes).rawRepresentation
                case .p384(_, let secret?): return try secret.signature(for: bytes).rawRepresentation
                case .rsa(_, let secret?):
                    guard let signature = SecKeyCreateSignature(secret, rsaAlgorithm, bytes as CFData, nil) else {
                        throw failure
                    }
                    return signature as Data
                default: throw failure
                }
            } catch {
                throw failure
            }
        }

        func isValid(_ signature: Data, for bytes: Data) -> Bool {
            switch key {
            case .ed25519(let key, _): return key.isValidSignature(signature, for: bytes)
            case .p256(let key, _):
                guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
                return key.isValidSignature(parsed, for: bytes)
            case .p384(let key, _):
                guard let parsed = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
                return key.isValidSignature(parsed, for: bytes)
            case .rsa(let key, _):
                return SecKeyVerifySignature(key, rsaAlgorithm, bytes as CFData, signature as CFData, nil)
            }
        }

        private var rsaAlgorithm: SecKeyAlgorithm {
            algorithm == .rsaPSSSHA512 ? .rsaSignatureMessagePSSSHA512 : .rsaSignatureMessagePKCS1v15SHA256
        }
    }
#endif
