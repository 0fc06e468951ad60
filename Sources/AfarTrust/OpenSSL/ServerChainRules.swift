#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    /// Validates the certificate chain of a TLS server with OpenSSL and with additional rules that OpenSSL doesn't check. All
    /// connections use these rules, with or without an evaluator.
    package enum ServerChainRules {
        private typealias Fault = (error: Int32, depth: Int32)

        /// Validates the chain of a context. If the chain that OpenSSL built is invalid, validates other possible chains.
        ///
        /// - Parameters:
        ///   - isStrict: Whether to set `X509_V_FLAG_X509_STRICT`.
        ///   - requiresNames: Whether the server's certificate must have a host name or an address as an alternative name. If the
        ///     certificate has neither, libcurl compares the host with the certificate's common name. The default is false.
        ///   - revocationLists: The revocation lists that were set on the context, if any.
        /// - Returns: Whether a chain is valid. If no chain is valid, the error of the first chain is set on the context.
        package static func validate(
            _ context: OpaquePointer, isStrict: Bool, requiresNames: Bool = false, revocationLists: OpaquePointer? = nil
        ) -> Bool {
            if isStrict {
                X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context), UInt(X509_V_FLAG_X509_STRICT))
            }
            // If the thread has errors, libcurl reports the first of them instead of the context's error.
            defer { ERR_clear_error() }
            if isChainValid(context, requiresNames: requiresNames) { return true }
            var paths = CertificatePaths(after: context, revocationLists: revocationLists) {
                isChainValid($0, requiresNames: requiresNames)
            }
            return paths.find()
        }

        private static func isChainValid(_ context: OpaquePointer, requiresNames: Bool) -> Bool {
            guard X509_verify_cert(context) == 1 else { return false }
            let chain = X509_STORE_CTX_get0_chain(context)
            guard let fault = fault(in: chain, requiresNames: requiresNames) else { return true }
            X509_STORE_CTX_set_error(context, fault.error)
            X509_STORE_CTX_set_error_depth(context, fault.depth)
            X509_STORE_CTX_set_current_cert(context, afar_x509_at(chain, fault.depth))
            return false
        }

        private static func fault(in chain: OpaquePointer?, requiresNames: Bool) -> Fault? {
            let count = afar_x509_count(chain)
            guard count > 0, let server = afar_x509_at(chain, 0) else { return (X509_V_ERR_UNSPECIFIED, 0) }
            let flags = X509_get_extension_flags(server)
            if flags & UInt32(EXFLAG_INVALID) != 0 { return (X509_V_ERR_INVALID_EXTENSION, 0) }
            // `openssl req -x509` marks self-signed certificates as authorities. Accept such a certificate as a server's
            // certificate if the certificate itself is trusted.
            if flags & UInt32(EXFLAG_CA) != 0, count > 1 { return (X509_V_ERR_INVALID_PURPOSE, 0) }
            let names = hostNames(of: server)
            if requiresNames, !names.arePresent { return (X509_V_ERR_HOSTNAME_MISMATCH, 0) }
            for depth in 1..<max(1, count) {
                guard let authority = afar_x509_at(chain, depth) else { continue }
                if let error = fault(inConstraintsOf: authority, on: names.wildcards) { return (error, depth) }
            }
            return nil
        }

        /// Returns whether the certificate has a host name or an address as an alternative name. Also returns the part after
        /// `*.` of each wildcard name.
        private static func hostNames(of certificate: OpaquePointer) -> (arePresent: Bool, wildcards: [[UInt8]]) {
            guard let names = afar_alternative_names(certificate) else { return (false, []) }
            defer { afar_names_free(names) }
            var arePresent = false
            var wildcards: [[UInt8]] = []
            for index in 0..<afar_name_count(names) {
                var (kind, length): (Int32, Int32) = (0, 0)
                guard let start = afar_name_at(names, index, &kind, &length) else { continue }
                arePresent = arePresent || kind == GEN_DNS || kind == GEN_IPADD
                let name = UnsafeBufferPointer(start: start, count: Int(length))
                if kind == GEN_DNS, name.starts(with: "*.".utf8) { wildcards.append(name.dropFirst(2).lowercased) }
            }
            return (arePresent, wildcards)
        }

        // MARK: Name constraints (RFC 5280, section 4.2.1.10)

        private static func fault(inConstraintsOf authority: OpaquePointer, on wildcards: [[UInt8]]) -> Int32? {
            var isCritical: Int32 = 0
            let constraints = afar_name_constraints(authority, &isCritical)
            defer { afar_name_constraints_free(constraints) }
            guard let constraints else { return isCritical == -1 ? nil : X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX }
            for isExcluded in [false, true] {
                for index in 0..<afar_subtree_count(constraints, isExcluded) {
                    var (kind, length, hasDistance): (Int32, Int32, Int32) = (0, 0, 0)
                    let start = afar_subtree_at(constraints, isExcluded, index, &kind, &length, &hasDistance)
                    if hasDistance != 0 { return X509_V_ERR_SUBTREE_MINMAX }
                    let base = UnsafeBufferPointer(start: start, count: Int(length))
                    guard isReadable(base, kind) else { return X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX }
                    // OpenSSL compares only the wildcard itself with the subtree, not the names that the wildcard matches.
                    if kind == GEN_DNS, isExcluded, wildcards.contains(parent(of: base.lowercased)) {
                        return X509_V_ERR_EXCLUDED_VIOLATION
                    }
                }
            }
            return nil
        }

        /// Returns whether a name constraint is well formed. OpenSSL doesn't detect an invalid constraint if the
        /// server's certificate has no name of the constraint's type.
        private static func isReadable(_ base: UnsafeBufferPointer<UInt8>, _ kind: Int32) -> Bool {
            switch kind {
            case GEN_DNS:
                guard !base.isEmpty else { return true }
                let labels = base.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                let rest = labels.first?.isEmpty == true ? labels.dropFirst() : labels[...]
                return !rest.isEmpty && rest.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isHostNameByte) }
            case GEN_IPADD:
                guard base.count == 8 || base.count == 32 else { return false }
                // The second half is a mask, which consists of ones followed by zeros.
                let mask = base.suffix(base.count / 2).flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
                return !zip(mask, mask.dropFirst()).contains { $0 == (0, 1) }
            default: return true
            }
        }

        /// Returns the parent of a DNS name.
        private static func parent(of name: [UInt8]) -> [UInt8] {
            let name = name.first == UInt8(ascii: ".") ? name.dropFirst() : name[...]
            return name.firstIndex(of: UInt8(ascii: ".")).map { Array(name[($0 + 1)...]) } ?? []
        }
    }

    extension Collection<UInt8> {
        fileprivate var lowercased: [UInt8] {
            map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        }
    }

    extension UInt8 {
        fileprivate var isHostNameByte: Bool {
            switch self {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
    }
#endif
