#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    /// Validates the certificates that a server presented.
    package struct ChainValidation {
        private let trust: ServerTrust

        /// OpenSSL's level 2 requires 112 bits of security: RSA keys of at least 2,048 bits, and no SHA-1 signatures.
        private static let securityLevel: Int32 = 2
        /// The accepted difference between clocks, in seconds.
        private static let clockTolerance = 300

        init(_ trust: ServerTrust) { self.trust = trust }

        private var revocationLists: [Data] { trust.revocationLists }

        /// Validates the chain and returns it.
        @discardableResult
        func chain() throws(ServerTrustError) -> [Certificate] {
            let store = try store()
            let lists = try revocationListStack()
            defer { afar_crl_stack_free(lists) }
            return try withContext(over: store) { context throws(ServerTrustError) in
                let parameters = Self.setRules(of: context)
                if !revocationLists.isEmpty {
                    X509_STORE_CTX_set0_crls(context, lists)
                    X509_VERIFY_PARAM_set_flags(
                        parameters, UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL))
                }
                let isValid = ServerChainRules.validate(
                    context, isStrict: trust.authorities.areStrict,
                    revocationLists: revocationLists.isEmpty ? nil : lists)
                guard isValid else { throw Self.error(of: context) }
                return Self.certificates(in: X509_STORE_CTX_get0_chain(context))
            }
        }

        @discardableResult
        private static func setRules(of context: OpaquePointer) -> OpaquePointer? {
            let parameters = X509_STORE_CTX_get0_param(context)
            X509_VERIFY_PARAM_set_auth_level(parameters, securityLevel)
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_TRUSTED_FIRST))
            // Like libcurl, trust intermediate authorities that are listed as trusted.
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
            return parameters
        }

        /// Validates the chain and the host of a handshake by the same rules as ``ServerTrust/validate()`` and
        /// ``ServerTrust/validateHost(_:)``.
        ///
        /// - Returns: The error; nil if the chain is valid. The error is also set on the context, so that OpenSSL sends the matching alert.
        package static func error(inHandshake context: OpaquePointer, host: String, isStrict: Bool) -> ServerTrustError?
        {
            setRules(of: context)
            guard ServerChainRules.validate(context, isStrict: isStrict) else { return error(of: context) }
            let certificate = X509_STORE_CTX_get0_cert(context)
            if let certificate, Certificate.isValid(certificate, forHost: host) { return nil }
            X509_STORE_CTX_set_error(context, X509_V_ERR_HOSTNAME_MISMATCH)
            return .hostMismatch(certificate.flatMap { Certificate($0) }, host: host)
        }

        /// Returns the chain up to the first invalid signature. The result always contains the server's own certificate, because the
        /// handshake has verified its key.
        func signedChain() -> [Certificate] {
            guard let store = try? CertificateStore() else { return Array(trust.certificates.prefix(1)) }
            var goodCount = Int32.max
            let chain = try? withContext(over: store) { context in
                let isDone = withUnsafeMutablePointer(to: &goodCount) { count in
                    afar_ignore_validation_errors(context, count)
                    return X509_verify_cert(context) == 1
                }
                return isDone ? Self.certificates(in: X509_STORE_CTX_get0_chain(context)) : []
            }
            guard let chain, !chain.isEmpty else { return Array(trust.certificates.prefix(1)) }
            return Array(chain.prefix(max(1, Int(goodCount))))
        }

        // MARK: OCSP

        /// Checks the OCSP status of the first certificate of a validated chain (RFC 6960).
        func checkStatus(in response: Data, of chain: [Certificate]) throws(ServerTrustError) {
            guard let first = chain.first, let certificate = X509.read(first.derEncoded) else { throw .noCertificates }
            func unknown(_ cause: String) -> ServerTrustError {
                ServerTrustError(
                    .revocationUnknown, "the OCSP response that the server sent cannot be used: \(cause)",
                    certificate: first)
            }
            guard let basic = OCSP.read(response) else { throw unknown("it is malformed or reports an error") }
            guard let issuer = chain.dropFirst().first.flatMap({ X509.read($0.derEncoded) }) else {
                throw unknown("the issuer of the certificate is not in the chain")
            }
            let certificates = try stack(of: chain)
            defer { afar_x509_stack_free(certificates) }
            let store: CertificateStore
            do { store = try CertificateStore(certificates: chain.suffix(1)) } catch { throw .outOfMemory }
            X509_STORE_set_flags(store.raw, UInt(X509_V_FLAG_PARTIAL_CHAIN))
            guard OCSP_basic_verify(basic.raw, certificates, store.raw, 0) == 1 else {
                throw unknown("its signature is invalid (\(OpenSSLError.takeMessage()))")
            }
            guard let status = OCSP.Status(of: certificate.raw, issuer.raw, in: basic.raw) else {
                throw unknown("it does not cover the certificate")
            }
            guard status.isCurrent(tolerance: Self.clockTolerance) else { throw unknown("it is out of date") }
            switch status.value {
            case V_OCSP_CERTSTATUS_GOOD: return
            case V_OCSP_CERTSTATUS_REVOKED:
                throw ServerTrustError(
                    .revoked, "the certificate is revoked according to its OCSP response", certificate: first)
            default: throw unknown("the responder has no record of the certificate")
            }
        }

        // MARK: Parts

        private func store() throws(ServerTrustError) -> CertificateStore {
            do {
                guard let anchors = trust.anchors else { return try trust.authorities.store() }
                return try CertificateStore(certificates: anchors)
            } catch {
                throw ServerTrustError(.noAuthorities, error.description)
            }
        }

        private func stack(of certificates: some Sequence<Certificate>) throws(ServerTrustError) -> OpaquePointer? {
            guard let stack = afar_x509_stack() else { throw .outOfMemory }
            for certificate in certificates {
                if let read = X509.read(certificate.derEncoded) { _ = afar_x509_append(stack, read.raw) }
            }
            return stack
        }

        private func revocationListStack() throws(ServerTrustError) -> OpaquePointer? {
            guard let stack = afar_crl_stack() else { throw .outOfMemory }
            for data in revocationLists {
                for list in PEMBlock.text(in: data).map({ PEMBlock.blocks(in: $0, labeled: "X509 CRL") }) ?? [data] {
                    guard RevocationList.append(list, to: stack) else {
                        afar_crl_stack_free(stack)
                        throw ServerTrustError(
                            .revocationUnknown,
                            CertificateError.notARevocationList(OpenSSLError.takeMessage()).description)
                    }
                }
            }
            return stack
        }

        private func withContext<Answer>(
            over store: CertificateStore, _ body: (OpaquePointer) throws(ServerTrustError) -> Answer
        ) throws(ServerTrustError) -> Answer {
            guard let first = trust.certificates.first, let certificate = X509.read(first.derEncoded) else {
                throw .noCertificates
            }
            let others = try stack(of: trust.certificates.dropFirst().prefix(CertificatePaths.maximumPresented))
            defer { afar_x509_stack_free(others) }
            guard let context = OpenSSLObject(X509_STORE_CTX_new(), free: X509_STORE_CTX_free) else {
                throw .outOfMemory
            }
            guard X509_STORE_CTX_init(context.raw, store.raw, certificate.raw, others) == 1,
                X509_STORE_CTX_set_default(context.raw, "ssl_server") == 1
            else { throw .outOfMemory }
            defer { ERR_clear_error() }
            return try body(context.raw)
        }

        private static func certificates(in chain: OpaquePointer?) -> [Certificate] {
            (0..<afar_x509_count(chain)).compactMap { afar_x509_at(chain, $0).flatMap { Certificate($0) } }
        }

        private static func error(of context: OpaquePointer) -> ServerTrustError {
            let number = X509_STORE_CTX_get_error(context)
            let text = String(cString: X509_verify_cert_error_string(Int(number)))
            return ServerTrustError(
                ServerTrustError.Code(verifyResult: number), text,
                certificate: X509_STORE_CTX_get_current_cert(context).flatMap { Certificate($0) })
        }
    }

    extension ServerTrustError {
        fileprivate static var outOfMemory: Self { Self(.invalid, "memory ran out") }
    }

    extension ServerTrustError.Code {
        fileprivate init(verifyResult: Int32) {
            self =
                switch verifyResult {
                case X509_V_ERR_CERT_HAS_EXPIRED: .expired
                case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
                case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
                case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
                    X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
                    X509_V_ERR_CERT_UNTRUSTED:
                    .unknownAuthority
                case X509_V_ERR_CERT_REVOKED: .revoked
                case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_CRL_HAS_EXPIRED,
                    X509_V_ERR_CRL_NOT_YET_VALID, X509_V_ERR_CRL_SIGNATURE_FAILURE,
                    X509_V_ERR_CRL_PATH_VALIDATION_ERROR,
                    X509_V_ERR_DIFFERENT_CRL_SCOPE, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE:
                    .revocationUnknown
                case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weakKey
                case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
                    X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_CERT_REJECTED:
                    .wrongUsage
                case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY,
                    X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE:
                    .invalidSignature
                case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
                    X509_V_ERR_UNSUPPORTED_NAME_SYNTAX, X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE,
                    X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX, X509_V_ERR_SUBTREE_MINMAX:
                    .nameNotPermitted
                default: .invalid
                }
        }
    }

    // MARK: - Trusted certificates

    /// Trusted certificates. The store doesn't change after its creation, so it can be used on any thread.
    package final class CertificateStore: @unchecked Sendable {
        // Sendable because OpenSSL only reads from the store.
        package let raw: OpaquePointer

        init() throws(CertificateError) {
            guard let raw = X509_STORE_new() else { throw .noCertificateAuthorities("memory ran out") }
            self.raw = raw
        }

        convenience init(file: URL) throws(CertificateError) {
            try self.init()
            guard X509_STORE_load_file(raw, file.path) == 1 else {
                throw .noCertificateAuthorities("\(file.path): \(OpenSSLError.takeMessage())")
            }
        }

        convenience init(certificates: [Certificate]) throws(CertificateError) {
            try self.init()
            for certificate in certificates {
                if let read = X509.read(certificate.derEncoded) { X509_STORE_add_cert(raw, read.raw) }
            }
        }

        deinit { X509_STORE_free(raw) }
    }

    // MARK: - Revocation

    /// Reads OCSP responses (RFC 6960).
    enum OCSP {
        /// Returns the signed part of a response; nil if the response is malformed or not successful.
        static func read(_ der: Data) -> OpenSSLObject? {
            let response = OpenSSLObject(decoding: der, d2i_OCSP_RESPONSE, free: OCSP_RESPONSE_free)
            guard let response, OCSP_response_status(response.raw) == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
                return nil
            }
            return OpenSSLObject(OCSP_response_get1_basic(response.raw), free: OCSP_BASICRESP_free)
        }

        /// The status of one certificate.
        struct Status {
            let value: Int32
            private let thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            private let nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?

            /// The maximum age of a response without an expiration date, in seconds.
            private static let longestAge = 7 * 24 * 60 * 60

            /// Returns nil if the response doesn't cover the certificate. Responders identify certificates by SHA-1 or SHA-256 hashes.
            init?(of certificate: OpaquePointer, _ issuer: OpaquePointer, in response: OpaquePointer) {
                var (value, reason): (Int32, Int32) = (-1, -1)
                var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
                var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
                let isFound = [EVP_sha1(), EVP_sha256()].contains { digest in
                    let id = OpenSSLObject(OCSP_cert_to_id(digest, certificate, issuer), free: OCSP_CERTID_free)
                    guard let id else { return false }
                    return OCSP_resp_find_status(response, id.raw, &value, &reason, nil, &this, &next) == 1
                }
                guard isFound else { return nil }
                (self.value, thisUpdate, nextUpdate) = (value, this, next)
            }

            func isCurrent(tolerance: Int) -> Bool {
                defer { ERR_clear_error() }
                return OCSP_check_validity(thisUpdate, nextUpdate, tolerance, nextUpdate == nil ? Self.longestAge : -1)
                    == 1
            }
        }
    }

    /// Reads certificate revocation lists (RFC 5280, section 5).
    enum RevocationList {
        /// Parses a revocation list and appends it to a stack. Returns false if the list is invalid.
        static func append(_ der: Data, to stack: OpaquePointer) -> Bool {
            let list = der.withUnsafeBytes { bytes in
                var next = bytes.bindMemory(to: UInt8.self).baseAddress
                return d2i_X509_CRL(nil, &next, bytes.count)
            }
            guard let list else { return false }
            return afar_crl_append(stack, list) == 1
        }
    }
#endif
