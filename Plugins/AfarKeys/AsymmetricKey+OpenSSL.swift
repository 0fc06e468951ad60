#if !canImport(CryptoKit)
    import COpenSSL
    import Foundation

    /// An OpenSSL public key or key pair.
    final class AsymmetricKey: @unchecked Sendable {
        // Sendable because OpenSSL doesn't modify the key after its creation.
        private let raw: OpaquePointer
        private let algorithm: SignatureAlgorithm
        let canSign: Bool

        private init(
            _ raw: OpaquePointer?, for algorithm: SignatureAlgorithm, canSign: Bool, otherwise reason: String
        ) throws(SignatureKeyError) {
            guard let raw else {
                ERR_clear_error()
                throw SignatureKeyError(reason)
            }
            (self.raw, self.algorithm, self.canSign) = (raw, algorithm, canSign)
            try check()
        }

        deinit { EVP_PKEY_free(raw) }

        // MARK: Creation

        convenience init(
            privateKeyPEM: String, for algorithm: SignatureAlgorithm, passphrase: String?
        ) throws(SignatureKeyError) {
            let raw = Self.withBuffer(Data(privateKeyPEM.utf8)) { afar_read_private_key($0, passphrase) }
            try self.init(
                raw, for: algorithm, canSign: true,
                otherwise: "the text isn't a private key in PEM form, or its passphrase is missing or wrong")
        }

        convenience init(publicKeyPEM: String, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            var text = publicKeyPEM
            if let pem = PEM(text), pem.label == "RSA PUBLIC KEY" {
                text = PEM.text(of: PEM.publicKeyInfo(ofRSA: pem.der))
            }
            let raw = Self.withBuffer(Data(text.utf8)) { PEM_read_bio_PUBKEY($0, nil, nil, nil) }
            try self.init(
                raw, for: algorithm, canSign: false, otherwise: "the text isn't a public key in PEM form")
        }

        convenience init(rawPrivateKey: Data, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            let encoding = try KeyEncoding.privateKey(rawPrivateKey, for: algorithm)
            let raw = encoding.withUnsafeBytes { bytes in
                var next = bytes.bindMemory(to: UInt8.self).baseAddress
                return d2i_AutoPrivateKey(nil, &next, bytes.count)
            }
            try self.init(
                raw, for: algorithm, canSign: true,
                otherwise: "the bytes aren't a private key for \(algorithm.rawValue)")
        }

        convenience init(rawPublicKey: Data, for algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            let encoding = try KeyEncoding.publicKey(rawPublicKey, for: algorithm)
            let raw = encoding.withUnsafeBytes { bytes in
                var next = bytes.bindMemory(to: UInt8.self).baseAddress
                return d2i_PUBKEY(nil, &next, bytes.count)
            }
            try self.init(
                raw, for: algorithm, canSign: false,
                otherwise: "the bytes aren't a public key for \(algorithm.rawValue)")
        }

        convenience init(generatedFor algorithm: SignatureAlgorithm) throws(SignatureKeyError) {
            let type =
                switch algorithm {
                case .ed25519: EVP_PKEY_ED25519
                case .ecdsaP256SHA256, .ecdsaP384SHA384: EVP_PKEY_EC
                case .rsaPSSSHA512, .rsaPKCS1SHA256, .hmacSHA256: EVP_PKEY_RSA
                }
            var raw: OpaquePointer?
            if let context = EVP_PKEY_CTX_new_id(type, nil) {
                defer { EVP_PKEY_CTX_free(context) }
                var isReady = EVP_PKEY_keygen_init(context) == 1
                switch algorithm {
                case .ecdsaP256SHA256:
                    isReady = isReady && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1
                case .ecdsaP384SHA384:
                    isReady = isReady && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_secp384r1) == 1
                case .rsaPSSSHA512, .rsaPKCS1SHA256:
                    isReady = isReady && EVP_PKEY_CTX_set_rsa_keygen_bits(context, 3072) == 1
                case .ed25519, .hmacSHA256: break
                }
                if isReady, EVP_PKEY_keygen(context, &raw) != 1 { raw = nil }
            }
            try self.init(
                raw, for: algorithm, canSign: true, otherwise: "OpenSSL can't create a key for \(algorithm.rawValue)")
        }

        private static func withBuffer(_ bytes: Data, _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
            bytes.withUnsafeBytes { bytes in
                guard let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
                defer { BIO_free(buffer) }
                return read(buffer)
            }
        }

        /// Checks that the key can be used with the algorithm.
        private func check() throws(SignatureKeyError) {
            let isSuitable =
                switch algorithm {
                case .hmacSHA256: false
                case .ed25519: EVP_PKEY_get_base_id(raw) == EVP_PKEY_ED25519
                case .ecdsaP256SHA256, .ecdsaP384SHA384:
                    EVP_PKEY_get_base_id(raw) == EVP_PKEY_EC && hasCurve && isOnCurve && isUncompressed
                case .rsaPSSSHA512:
                    [EVP_PKEY_RSA, EVP_PKEY_RSA_PSS].contains(EVP_PKEY_get_base_id(raw))
                case .rsaPKCS1SHA256: EVP_PKEY_get_base_id(raw) == EVP_PKEY_RSA
                }
            guard isSuitable else { throw SignatureKeyError("it isn't a key for \(algorithm.rawValue)") }
            guard !algorithm.usesRSA || (2_048...16_384).contains(EVP_PKEY_get_bits(raw)) else {
                throw SignatureKeyError(
                    "the RSA key has \(EVP_PKEY_get_bits(raw)) bits, but 2,048 to 16,384 are required")
            }
        }

        /// Whether the key has the algorithm's curve. `EVP_PKEY_get_bits` alone can't distinguish curves of the same size.
        private var hasCurve: Bool {
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard EVP_PKEY_get_group_name(raw, &name, name.count, &length) == 1 else {
                ERR_clear_error()
                return false
            }
            let text = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return text == (algorithm == .ecdsaP256SHA256 ? "prime256v1" : "secp384r1")
        }

        /// Whether an EC key's point and, in a private key, its scalar are valid for the curve. Reading a key doesn't check these values
        /// completely.
        private var isOnCurve: Bool {
            defer { ERR_clear_error() }
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, raw, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return (canSign ? EVP_PKEY_check(context) : EVP_PKEY_public_check(context)) == 1
        }

        /// Makes OpenSSL write the public key as x and y, even if it has read the key in compressed form. The value is false if OpenSSL
        /// reports an error.
        private var isUncompressed: Bool {
            EVP_PKEY_set_utf8_string_param(raw, "point-format", "uncompressed") == 1
        }

        func publicKeyPEM() throws(SignatureKeyError) -> String { try Self.text { PEM_write_bio_PUBKEY($0, raw) } }

        func privateKeyPEM() throws(SignatureKeyError) -> String {
            try Self.text { PEM_write_bio_PKCS8PrivateKey($0, raw, nil, nil, 0, nil, nil) }
        }

        private static func text(_ write: (OpaquePointer) -> Int32) throws(SignatureKeyError) -> String {
            let failure = SignatureKeyError("OpenSSL can't write it")
            guard let buffer = BIO_new(BIO_s_mem()) else { throw failure }
            defer { BIO_free(buffer) }
            guard write(buffer) == 1 else {
                ERR_clear_error()
                throw failure
            }
            var bytes: UnsafePointer<CChar>?
            let count = afar_bio_contents(buffer, &bytes)
            guard let bytes else { throw failure }
            return String(decoding: Data(bytes: bytes, count: count), as: UTF8.self)
        }

        // MARK: Signatures

        private var hash: OpaquePointer? {
            switch algorithm {
            case .ed25519: nil
            case .ecdsaP256SHA256, .rsaPKCS1SHA256, .hmacSHA256: EVP_sha256()
            case .ecdsaP384SHA384: EVP_sha384()
            case .rsaPSSSHA512: EVP_sha512()
            }
        }

        private func setPadding(_ context: OpaquePointer?) -> Bool {
            guard algorithm == .rsaPSSSHA512 else { return true }
            return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, 64) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha512()) == 1
        }

        func signature(for bytes: Data) throws(SignatureKeyError) -> Data {
            guard let signature = derSignature(for: bytes) else {
                ERR_clear_error()
                throw .unavailable(algorithm.rawValue)
            }
            guard let size = algorithm.coordinateSize else { return signature }
            guard let coordinates = Self.coordinates(of: signature, size: size) else {
                ERR_clear_error()
                throw .unavailable(algorithm.rawValue)
            }
            return coordinates
        }

        private func derSignature(for bytes: Data) -> Data? {
            guard let context = EVP_MD_CTX_new() else { return nil }
            defer { EVP_MD_CTX_free(context) }
            var keyContext: OpaquePointer?
            guard EVP_DigestSignInit(context, &keyContext, hash, nil, raw) == 1, setPadding(keyContext) else {
                return nil
            }
            return bytes.withUnsafeBytes { bytes -> Data? in
                let message = bytes.bindMemory(to: UInt8.self).baseAddress
                var count = 0
                guard EVP_DigestSign(context, nil, &count, message, bytes.count) == 1 else { return nil }
                var signature = [UInt8](repeating: 0, count: count)
                guard EVP_DigestSign(context, &signature, &count, message, bytes.count) == 1 else { return nil }
                return Data(signature.prefix(count))
            }
        }

        func isValid(_ signature: Data, for bytes: Data) -> Bool {
            // Failed verifications add errors to the thread's queue.
            defer { ERR_clear_error() }
            var signature = signature
            if let size = algorithm.coordinateSize {
                guard let der = Self.der(of: signature, size: size) else { return false }
                signature = der
            }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            var keyContext: OpaquePointer?
            guard EVP_DigestVerifyInit(context, &keyContext, hash, nil, raw) == 1, setPadding(keyContext) else {
                return false
            }
            return bytes.withUnsafeBytes { bytes in
                signature.withUnsafeBytes { signature in
                    EVP_DigestVerify(
                        context, signature.bindMemory(to: UInt8.self).baseAddress, signature.count,
                        bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) == 1
                }
            }
        }

        /// Returns r and s of a signature in DER form.
        private static func coordinates(of der: Data, size: Int) -> Data? {
            let parsed = der.withUnsafeBytes { bytes in
                var next = bytes.bindMemory(to: UInt8.self).baseAddress
                return d2i_ECDSA_SIG(nil, &next, bytes.count)
            }
            guard let parsed else { return nil }
            defer { ECDSA_SIG_free(parsed) }
            var bytes = [UInt8](repeating: 0, count: size * 2)
            let isComplete = bytes.withUnsafeMutableBufferPointer { bytes -> Bool in
                guard let start = bytes.baseAddress else { return false }
                return BN_bn2binpad(ECDSA_SIG_get0_r(parsed), start, Int32(size)) == Int32(size)
                    && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), start + size, Int32(size)) == Int32(size)
            }
            return isComplete ? Data(bytes) : nil
        }

        /// Returns the DER form of r and s, or nil if the length is wrong.
        private static func der(of coordinates: Data, size: Int) -> Data? {
            guard coordinates.count == size * 2, let parsed = ECDSA_SIG_new() else { return nil }
            defer { ECDSA_SIG_free(parsed) }
            let bytes = Array(coordinates)
            let r = BN_bin2bn(bytes, Int32(size), nil)
            let s = BN_bin2bn(Array(bytes.suffix(size)), Int32(size), nil)
            // The signature takes ownership of the numbers only if the call succeeds.
            guard r != nil, s != nil, ECDSA_SIG_set0(parsed, r, s) == 1 else {
                BN_free(r)
                BN_free(s)
                return nil
            }
            var output: UnsafeMutablePointer<UInt8>?
            let count = i2d_ECDSA_SIG(parsed, &output)
            guard count > 0, let output else { return nil }
            defer { CRYPTO_free(output, nil, 0) }
            return Data(bytes: output, count: Int(count))
        }
    }
#endif
