#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    extension ClientIdentity {
        static func make(
            _ certificates: [Certificate], privateKey: Data, passphrase: String?
        ) throws(CertificateError) -> ClientIdentity {
            guard let first = certificates.first, let certificate = X509.read(first.derEncoded) else {
                throw .notACertificate("there is none")
            }
            let key = try PrivateKey.read(privateKey, passphrase: passphrase)
            guard X509_check_private_key(certificate.raw, key.raw) == 1 else {
                ERR_clear_error()
                throw .keyMismatch
            }
            return ClientIdentity(
                certificate: first, intermediates: Array(certificates.dropFirst()),
                privateKey: try PrivateKey.encoded(key.raw))
        }

        static func read(pkcs12 data: Data, passphrase: String) throws(CertificateError) -> ClientIdentity {
            guard let archive = OpenSSLObject(decoding: data, d2i_PKCS12, free: PKCS12_free) else {
                throw .notAnIdentity("it could not be read")
            }
            // An empty passphrase may have been none at all when the archive was made; this tries both.
            guard
                PKCS12_verify_mac(archive.raw, passphrase, -1) == 1
                    || passphrase.isEmpty && PKCS12_verify_mac(archive.raw, nil, 0) == 1
            else {
                ERR_clear_error()
                throw .wrongPassphrase
            }
            var (key, certificate, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
            guard PKCS12_parse(archive.raw, passphrase, &key, &certificate, &others) == 1 else {
                throw .notAnIdentity(OpenSSLError.takeMessage())
            }
            defer {
                EVP_PKEY_free(key)
                X509_free(certificate)
                afar_x509_stack_free(others)
            }
            guard let key, let certificate, let own = Certificate(certificate) else {
                throw .notAnIdentity("a certificate or its key is missing")
            }
            let intermediates = (0..<afar_x509_count(others)).compactMap {
                afar_x509_at(others, $0).flatMap { Certificate($0) }
            }
            return ClientIdentity(
                certificate: own, intermediates: intermediates, privateKey: try PrivateKey.encoded(key))
        }
    }

    private enum PrivateKey {
        static func read(_ data: Data, passphrase: String?) throws(CertificateError) -> OpenSSLObject {
            guard let buffer = MemoryBuffer(data) else { throw .notAPrivateKey("memory ran out") }
            let isText = PEMBlock.text(in: data) != nil
            ERR_clear_error()
            var key = isText ? afar_read_private_key(buffer.raw, passphrase) : d2i_PrivateKey_bio(buffer.raw, nil)
            if key == nil, !isText, let again = MemoryBuffer(data) {
                key = afar_read_encrypted_key(again.raw, passphrase)
            }
            if key == nil, isText, isEncrypted(data) { throw .wrongPassphrase }
            let message = key == nil ? OpenSSLError.takeMessage() : ""
            guard let key = OpenSSLObject(key, free: EVP_PKEY_free) else { throw .notAPrivateKey(message) }
            return key
        }

        private static func isEncrypted(_ data: Data) -> Bool {
            ["ENCRYPTED PRIVATE KEY", "Proc-Type: 4,ENCRYPTED"].contains { data.range(of: Data($0.utf8)) != nil }
        }

        /// As PKCS#8 without a passphrase.
        static func encoded(_ key: OpaquePointer) throws(CertificateError) -> Data {
            guard let form = OpenSSLObject(EVP_PKEY2PKCS8(key), free: PKCS8_PRIV_KEY_INFO_free),
                let data = Data(encoding: { i2d_PKCS8_PRIV_KEY_INFO(form.raw, $0) })
            else { throw .notAPrivateKey(OpenSSLError.takeMessage()) }
            return data
        }
    }
#endif
