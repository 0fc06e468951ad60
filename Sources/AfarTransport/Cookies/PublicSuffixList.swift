/// Knows the names under which anybody can register names: `com`, `co.uk`, `github.io`. No cookie is for all of such a name.
///
/// It is asked while a response is read, so it is quick, and may be asked on any thread.
public protocol PublicSuffixList: Sendable {
    /// Whether a name is a public suffix.
    ///
    /// - Parameter domain: In lower case, ASCII (Punycode for what is not), without a dot in front or at the end.
    func isPublicSuffix(_ domain: String) -> Bool
}

/// What is known without a list: a name without a dot is a public suffix.
package struct TopLevelSuffixes: PublicSuffixList {
    package init() {}

    package func isPublicSuffix(_ domain: String) -> Bool { !domain.utf8.contains(UInt8(ascii: ".")) }
}

extension PublicSuffixList {
    /// Whether two hosts are of one site: they are the same, or the same name right below a public suffix is in both.
    package func areSameSite(_ host: CookieDomain, _ other: CookieDomain) -> Bool {
        guard host != other else { return true }
        guard !host.isAddress, !other.isAddress, let site = registrableDomain(of: host) else { return false }
        return site == registrableDomain(of: other)
    }

    private func registrableDomain(of host: CookieDomain) -> String? {
        var registrable: String?
        for domain in host.matchingDomains.map(String.init) {
            if isPublicSuffix(domain) { return registrable }
            registrable = domain
        }
        return registrable
    }
}
