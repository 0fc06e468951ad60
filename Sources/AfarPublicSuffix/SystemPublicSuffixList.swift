public import AfarStages

#if canImport(CLibpsl)
    import CLibpsl
#endif

/// The system's copy of Mozilla's Public Suffix List (publicsuffix.org).
///
/// On Linux, libpsl provides the list. libpsl uses the newer of its built-in list and the list of the `publicsuffix`
/// package. On other systems, no list is available. Only names without a dot then count as public suffixes, as in a
/// session without a list.
public struct SystemPublicSuffixList: PublicSuffixList, @unchecked Sendable {
    // Sendable because libpsl's list is never changed or freed.

    /// The shared list, which is loaded on first use.
    public static let shared = SystemPublicSuffixList()

    #if canImport(CLibpsl)
        private let list: OpaquePointer?

        private init() {
            list = psl_latest(nil) ?? psl_builtin()
        }

        /// Returns whether the domain is a public suffix: a domain, such as `co.uk`, under which anyone can register
        /// names directly.
        public func isPublicSuffix(_ domain: String) -> Bool {
            guard let list, domain.utf8.contains(UInt8(ascii: ".")) else {
                return !domain.utf8.contains(UInt8(ascii: "."))
            }
            return psl_is_public_suffix(list, domain) == 1
        }
    #else
        private init() {}

        /// Returns whether the domain is a public suffix: a domain, such as `co.uk`, under which anyone can register
        /// names directly.
        public func isPublicSuffix(_ domain: String) -> Bool { !domain.utf8.contains(UInt8(ascii: ".")) }
    #endif
}
