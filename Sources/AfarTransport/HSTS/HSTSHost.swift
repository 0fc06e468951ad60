public import Foundation

/// A host that wants to be reached by https only (RFC 6797, section 5.3).
public struct HSTSHost: Sendable, Hashable {
    /// Its name, in lower case.
    public let name: String
    /// Whether all hosts below it want that, too.
    public let includesSubdomains: Bool
    /// When it is forgotten.
    public let expires: Date

    /// Makes a host.
    ///
    /// - Parameters:
    ///   - name: Its name, without port.
    ///   - includesSubdomains: Whether it speaks for all hosts below it. The default is false.
    ///   - expires: When it is forgotten. The default is never.
    /// - Returns: Nil for what is no name, an address say.
    public init?(name: String, includesSubdomains: Bool = false, expires: Date = .distantFuture) {
        guard let domain = CookieDomain(name), !domain.isAddress else { return nil }
        self.init(domain: domain.text, includesSubdomains: includesSubdomains, expires: expires)
    }

    init(domain: String, includesSubdomains: Bool, expires: Date) {
        (name, self.includesSubdomains, self.expires) = (domain, includesSubdomains, expires)
    }

    /// Whether it is forgotten.
    ///
    /// - Parameter date: The time to look at. The default is now.
    public func isExpired(at date: Date = Date()) -> Bool { expires <= date }
}
