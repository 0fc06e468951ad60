public import AfarStages

#if canImport(CLibpsl)
    import CLibpsl
#endif

/// Mozilla's list of public suffixes (publicsuffix.org), as the system has it: by libpsl on Linux. That has a list of its own, and
/// takes the one of the package `publicsuffix` where it is newer.
///
/// On other systems there is none; there a name without a dot is a public suffix, as it is for a session without a list.
public struct SystemPublicSuffixList: PublicSuffixList, @unchecked Sendable {
    // Sendable because what libpsl gives is never changed and never freed.

    /// The list, which is loaded when it is first used.
    public static let shared = SystemPublicSuffixList()

    #if canImport(CLibpsl)
        private let list: OpaquePointer?

        private init() {
            list = psl_latest(nil) ?? psl_builtin()
        }

        /// Whether nobody but a registry has this name.
        public func isPublicSuffix(_ domain: String) -> Bool {
            guard let list, domain.utf8.contains(UInt8(ascii: ".")) else {
                return !domain.utf8.contains(UInt8(ascii: "."))
            }
            return psl_is_public_suffix(list, domain) == 1
        }
    #else
        private init() {}

        /// Whether nobody but a registry has this name.
        public func isPublicSuffix(_ domain: String) -> Bool { !domain.utf8.contains(UInt8(ascii: ".")) }
    #endif
}
