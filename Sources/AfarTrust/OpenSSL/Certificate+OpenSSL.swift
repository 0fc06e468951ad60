#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    extension Certificate {
        /// Creates a certificate from an OpenSSL certificate, for example from a connection. Returns nil if memory ran out.
        init?(_ raw: OpaquePointer) {
            guard let der = Data(encoding: { i2d_X509(raw, $0) }) else { return nil }
            self.init(raw, der)
        }

        static func read(_ der: Data) throws(CertificateError) -> Certificate {
            guard let certificate = X509.read(der) else { throw .notACertificate(OpenSSLError.takeMessage()) }
            return Certificate(certificate.raw, der)
        }

        /// `d2i_X509` accepts certificates with invalid dates. This initializer replaces invalid dates with dates that make the certificate
        /// invalid at any time.
        private init(_ raw: OpaquePointer, _ der: Data) {
            self.init(
                derEncoded: der,
                subject: Self.text(of: X509_get_subject_name(raw)),
                issuer: Self.text(of: X509_get_issuer_name(raw)),
                serialNumber: Self.hexadecimal(X509_get0_serialNumber(raw)),
                subjectAlternativeNames: Self.alternativeNames(of: raw),
                validity: (
                    Self.date(X509_get0_notBefore(raw)) ?? .distantFuture,
                    Self.date(X509_get0_notAfter(raw)) ?? .distantPast
                ),
                publicKey: PublicKey(ofCertificate: raw),
                isCertificateAuthority: X509_check_ca(raw) == 1)
        }

        private static func text(of name: OpaquePointer?) -> String {
            guard let name, let buffer = MemoryBuffer() else { return "" }
            _ = afar_print_name(buffer.raw, name)
            return buffer.text
        }

        private static func hexadecimal(_ number: UnsafePointer<ASN1_INTEGER>?) -> String {
            guard let number, let buffer = MemoryBuffer() else { return "" }
            i2a_ASN1_INTEGER(buffer.raw, number)
            return buffer.text
        }

        private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
            var parts = tm()
            guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
            return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
        }

        private static func alternativeNames(of raw: OpaquePointer) -> [SubjectAlternativeName] {
            guard let names = afar_alternative_names(raw) else { return [] }
            defer { afar_names_free(names) }
            return (0..<afar_name_count(names)).compactMap { index in
                var kind: Int32 = 0
                var length: Int32 = 0
                guard let bytes = afar_name_at(names, index, &kind, &length) else { return nil }
                let name = UnsafeBufferPointer(start: bytes, count: Int(length))
                switch kind {
                case GEN_DNS: return .dns(String(decoding: name, as: UTF8.self))
                case GEN_EMAIL: return .email(String(decoding: name, as: UTF8.self))
                case GEN_URI: return .uri(String(decoding: name, as: UTF8.self))
                default: return address(name).map { .ipAddress($0) }
                }
            }
        }

        private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
            guard bytes.count == 4 || bytes.count == 16 else { return nil }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            guard inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) != nil else { return nil }
            return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        }

        private static func isAddress(_ host: String) -> Bool {
            var (ipv4, ipv6) = (in_addr(), in6_addr())
            return inet_pton(AF_INET, host, &ipv4) == 1 || inet_pton(AF_INET6, host, &ipv6) == 1
        }

        func isValid(forHost host: String) throws(ServerTrustError) -> Bool {
            guard let certificate = X509.read(derEncoded) else { throw .noCertificates }
            return Self.isValid(certificate.raw, forHost: host)
        }

        /// Returns whether a certificate is valid for a host name or an address.
        static func isValid(_ certificate: OpaquePointer, forHost host: String) -> Bool {
            var name = host
            if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
            // Don't compare an address with names: a wildcard could match it.
            if isAddress(name) { return X509_check_ip_asc(certificate, name, 0) == 1 }
            if name.hasSuffix(".") { name.removeLast() }
            // To OpenSSL, a leading dot means any subdomain.
            guard !name.isEmpty, !name.hasPrefix(".") else { return false }
            let flags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)
            return X509_check_host(certificate, name, name.utf8.count, flags, nil) == 1
        }
    }

    enum X509 {
        static func read(_ der: Data) -> OpenSSLObject? {
            der.withUnsafeBytes { bytes in
                var next = bytes.bindMemory(to: UInt8.self).baseAddress
                guard let raw = d2i_X509(nil, &next, bytes.count) else { return nil }
                return OpenSSLObject(raw, free: X509_free)
            }
        }
    }

    extension PublicKey {
        fileprivate init(ofCertificate raw: OpaquePointer) {
            let key = X509_get_X509_PUBKEY(raw)
            self.init(
                derEncoded: Data { i2d_X509_PUBKEY(key, $0) }, algorithm: Self.algorithm(of: X509_get0_pubkey(raw)))
        }

        /// - Parameter der: The key in DER form; nil if OpenSSL could not encode it.
        private init(derEncoded der: Data?, algorithm: String?) {
            let hash = der?.withUnsafeBytes { HashFunction.sha256.hash(of: $0) }
            // Random bytes replace a missing hash, so that the key never equals another.
            self.init(
                sha256: Data(hash ?? (0..<32).map { _ in .random(in: .min ... .max) }), derEncoded: der,
                algorithm: algorithm)
        }

        static func read(_ der: Data) throws(CertificateError) -> PublicKey {
            guard let key = OpenSSLObject(decoding: der, d2i_PUBKEY, free: EVP_PKEY_free) else {
                throw .notAPublicKey(OpenSSLError.takeMessage())
            }
            return PublicKey(derEncoded: der, algorithm: algorithm(of: key.raw))
        }

        private static func algorithm(of key: OpaquePointer?) -> String? {
            guard let key, let name = EVP_PKEY_get0_type_name(key) else { return nil }
            return "\(String(cString: name)) \(EVP_PKEY_get_bits(key)) bit"
        }
    }

    extension ClientIdentity {
        static func make(
            _ certificates: [Certificate], privateKey: Data, passphrase: String?
        ) throws(CertificateError) -> ClientIdentity {
            guard let first = certificates.first, let certificate = X509.read(first.derEncoded) else {
                throw .notACertificate("no certificate could be read")
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
            // Some tools treat an empty passphrase as empty text, and others treat it as no passphrase. Try both.
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

        /// Returns the key as PKCS#8, without a passphrase.
        static func encoded(_ key: OpaquePointer) throws(CertificateError) -> Data {
            guard let form = OpenSSLObject(EVP_PKEY2PKCS8(key), free: PKCS8_PRIV_KEY_INFO_free),
                let data = Data(encoding: { i2d_PKCS8_PRIV_KEY_INFO(form.raw, $0) })
            else { throw .notAPrivateKey(OpenSSLError.takeMessage()) }
            return data
        }
    }
#endif
