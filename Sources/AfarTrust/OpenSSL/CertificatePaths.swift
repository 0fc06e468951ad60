#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    /// Searches for a valid path from a server's certificate to a trusted certificate.
    ///
    /// A certificate can have several possible issuers. For example, a cross-signed authority has two certificates, one of which
    /// can have expired (RFC 4158, section 2.3). OpenSSL builds only one path, even if that path is invalid. The search only
    /// selects certificates. OpenSSL validates each path. It uses the settings of the failed validation, but not the verification
    /// callback.
    struct CertificatePaths {
        /// The maximum number of presented certificates that are considered, besides the server's own.
        static let maximumPresented = 64
        /// The maximum number of paths that are tried, including dead ends.
        private static let maximumCount = 100
        /// The maximum duration of a search, in seconds of the thread's CPU time.
        private static let maximumDuration = 0.08

        private let failed: OpaquePointer
        private let revocationLists: OpaquePointer?
        private let isValid: (OpaquePointer) -> Bool
        private let presented: [OpaquePointer]
        private var path: [OpaquePointer]
        private var issuances: [Issuance: Bool] = [:]
        private var remainingCount = Self.maximumCount
        private let end = Self.processorTime + Self.maximumDuration

        /// A pair of certificates. The first one may have signed the second one.
        private struct Issuance: Hashable {
            let issuer, subject: OpaquePointer
        }

        /// - Parameters:
        ///   - failed: The context of the failed validation.
        ///   - revocationLists: The revocation lists of the context, if any.
        ///   - isValid: Validates the path of another context.
        init(
            after failed: OpaquePointer, revocationLists: OpaquePointer?, isValid: @escaping (OpaquePointer) -> Bool
        ) {
            (self.failed, self.revocationLists, self.isValid) = (failed, revocationLists, isValid)
            let server = X509_STORE_CTX_get0_cert(failed)
            path = server.map { [$0] } ?? []
            let others = Self.certificates(in: X509_STORE_CTX_get0_untrusted(failed)).lazy.filter { $0 != server }
            presented = Array(others.prefix(Self.maximumPresented))
        }

        /// Searches for a valid path. If the search succeeds, sets the path on the failed context and clears the context's error.
        mutating func find() -> Bool {
            guard let server = path.first else { return false }
            let stack = X509_STORE_CTX_get1_certs(failed, X509_get_subject_name(server))
            defer { afar_x509_stack_free(stack) }
            let isTrusted = Self.certificates(in: stack).contains {
                X509_cmp($0, server) == 0 && validate(endingIn: $0)
            }
            return isTrusted || extend()
        }

        /// Tries each possible issuer of the last certificate in the path. Trusted issuers, which end the path, come first.
        private mutating func extend() -> Bool {
            guard let last = path.last else { return false }
            let stack = X509_STORE_CTX_get1_certs(failed, X509_get_issuer_name(last))
            defer { afar_x509_stack_free(stack) }
            let trusted = Self.certificates(in: stack)
            var isDeadEnd = true
            for anchor in trusted where canContinue && isIssuer(anchor, of: last) {
                isDeadEnd = false
                remainingCount -= 1
                if validate(endingIn: anchor) { return true }
            }
            for issuer in presented where canContinue && isIssuer(issuer, of: last) && !isInPath(issuer) {
                guard !trusted.contains(where: { Self.hides($0, issuer) }) else { continue }
                isDeadEnd = false
                path.append(issuer)
                defer { path.removeLast() }
                if extend() { return true }
            }
            if isDeadEnd { remainingCount -= 1 }
            return false
        }

        /// Returns whether to skip a presented certificate. It is skipped if it is the trusted certificate itself, or if the store contains
        /// a rejected certificate (`openssl x509 -addreject`) with the same name and key.
        private static func hides(_ trusted: OpaquePointer, _ presented: OpaquePointer) -> Bool {
            let isRejected = X509_check_trust(trusted, X509_TRUST_SSL_SERVER, 0) == X509_TRUST_REJECTED
            return X509_cmp(trusted, presented) == 0 || isRejected && hasSameKey(trusted, presented)
        }

        private static func hasSameKey(_ first: OpaquePointer, _ second: OpaquePointer) -> Bool {
            EVP_PKEY_eq(X509_get0_pubkey(first), X509_get0_pubkey(second)) == 1
        }

        private var canContinue: Bool { remainingCount > 0 && Self.processorTime < end }

        /// Returns whether the path contains a certificate with the same subject and key. A second one would form a loop.
        private func isInPath(_ certificate: OpaquePointer) -> Bool {
            path.contains {
                X509_NAME_cmp(X509_get_subject_name($0), X509_get_subject_name(certificate)) == 0
                    && Self.hasSameKey($0, certificate)
            }
        }

        /// Returns whether a certificate belongs to an authority, is valid at this time, and signed another certificate. Otherwise,
        /// a path with both certificates would be invalid.
        private mutating func isIssuer(_ issuer: OpaquePointer, of subject: OpaquePointer) -> Bool {
            let issuance = Issuance(issuer: issuer, subject: subject)
            if let known = issuances[issuance] { return known }
            let parameters = X509_STORE_CTX_get0_param(failed)
            let isIssuer =
                X509_check_issued(issuer, subject) == X509_V_OK
                && X509_check_purpose(issuer, X509_PURPOSE_SSL_SERVER, 1) != 0
                && X509_cmp_timeframe(parameters, X509_get0_notBefore(issuer), X509_get0_notAfter(issuer)) == 0
                && X509_verify(subject, X509_get0_pubkey(issuer)) == 1
            issuances[issuance] = isIssuer
            return isIssuer
        }

        /// Validates the path with a trusted certificate appended.
        private func validate(endingIn anchor: OpaquePointer) -> Bool {
            let (intermediates, anchors) = (afar_x509_stack(), afar_x509_stack())
            defer {
                afar_x509_stack_free(intermediates)
                afar_x509_stack_free(anchors)
            }
            guard let intermediates, let anchors, afar_x509_append(anchors, anchor) != 0,
                path.dropFirst().allSatisfy({ afar_x509_append(intermediates, $0) != 0 }),
                let context = OpenSSLObject(X509_STORE_CTX_new(), free: X509_STORE_CTX_free),
                X509_STORE_CTX_init(context.raw, X509_STORE_CTX_get0_store(failed), path[0], intermediates) == 1,
                let parameters = X509_STORE_CTX_get0_param(context.raw),
                X509_VERIFY_PARAM_set1(parameters, X509_STORE_CTX_get0_param(failed)) == 1
            else { return false }
            // Otherwise, OpenSSL would skip intermediates that have the same name as the trusted certificate.
            X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_TRUSTED_FIRST))
            X509_STORE_CTX_set0_trusted_stack(context.raw, anchors)
            if let revocationLists { X509_STORE_CTX_set0_crls(context.raw, revocationLists) }
            guard isValid(context.raw), let chain = X509_STORE_CTX_get1_chain(context.raw) else { return false }
            X509_STORE_CTX_set0_verified_chain(failed, chain)
            X509_STORE_CTX_set_error(failed, X509_V_OK)
            return true
        }

        private static func certificates(in stack: OpaquePointer?) -> [OpaquePointer] {
            (0..<afar_x509_count(stack)).compactMap { afar_x509_at(stack, $0) }
        }

        private static var processorTime: TimeInterval {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
        }
    }
#endif
