package import Foundation
package import HTTPTypes

/// Scheme, host and port: whom a secret is meant for (RFC 6454, section 4).
package struct Origin: Hashable, Sendable {
    /// "https://example.com:8443", say; the scheme's own port is left out.
    package let text: String

    /// The origin that a request is sent to.
    package init(_ request: HTTPRequest) {
        self.init(scheme: request.scheme ?? "", authority: request.authority ?? "")
    }

    /// The origin of a URL; nil when no request can be sent there.
    package init?(_ url: URL) {
        guard let target = try? RequestTarget(url) else { return nil }
        self.init(scheme: target.scheme, authority: target.authority)
    }

    private init(scheme: String, authority: String) {
        let scheme = scheme.lowercased()
        var authority = authority.lowercased()
        let standardPort = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(standardPort) { authority.removeLast(standardPort.count) }
        text = "\(scheme)://\(authority)"
    }
}
