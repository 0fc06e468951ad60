public import Foundation
import HTTPTypes

/// What the rules about cookies look at in a URL: its host, its path, and whether it is secure.
public struct CookieURL: Sendable, Hashable {
    package let domain: CookieDomain
    /// The path without the query, `/` at least.
    public let path: String
    /// Whether it is of https.
    public let isSecure: Bool

    /// The host in lower case, without port.
    public var host: String { domain.text }

    /// Takes what is needed of a URL; nil for one that no request can be sent to.
    public init?(_ url: URL) {
        guard let target = try? RequestTarget(url) else { return nil }
        self.init(scheme: target.scheme, authority: target.authority, path: target.path)
    }

    /// The URL that a request is for: its host is that of the caller's `Host` field, if there is one.
    package init(_ exchange: Exchange) {
        let request = exchange.request
        self.init(
            scheme: request.scheme ?? "", authority: exchange.otherHost ?? request.authority ?? "",
            path: request.path ?? "/")
    }

    private init(scheme: String, authority: String, path: String) {
        domain = CookieDomain(authority: authority)
        isSecure = scheme == "https"
        let end = path.utf8.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex
        self.path = path.utf8.first == UInt8(ascii: "/") ? String(path[..<end]) : "/"
    }

    /// The path of a cookie that names none (RFC 6265bis, section 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether a cookie of a path is for this URL (RFC 6265bis, section 5.1.4).
    func matches(path cookiePath: String) -> Bool { Self.path(path, matches: cookiePath) }

    static func path(_ path: String, matches cookiePath: String) -> Bool {
        let (path, cookiePath, slash) = (path.utf8, cookiePath.utf8, UInt8(ascii: "/"))
        guard path.starts(with: cookiePath) else { return false }
        return path.count == cookiePath.count || cookiePath.last == slash
            || path.dropFirst(cookiePath.count).first == slash
    }
}
