package import Foundation
package import HTTPTypes

/// A scheme, host and port (RFC 6454, section 4). Credentials are meant for one origin.
package struct Origin: Hashable, Sendable {
    /// The origin as text, such as "https://example.com:8443". The scheme's default port is omitted.
    package let text: String

    /// The origin that a request is sent to.
    package init(_ request: HTTPRequest) {
        self.init(scheme: request.scheme ?? "", authority: request.authority ?? "")
    }

    /// The origin of a URL; nil if the URL isn't valid for a request.
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
