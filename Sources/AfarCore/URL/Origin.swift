package import HTTPTypes

/// Scheme, host and port: whom a secret is meant for (RFC 6454, section 4).
package struct Origin: Hashable, Sendable {
    private let text: String

    /// The origin that a request is sent to.
    package init(_ request: HTTPRequest) {
        let scheme = (request.scheme ?? "").lowercased()
        var authority = (request.authority ?? "").lowercased()
        let standardPort = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(standardPort) { authority.removeLast(standardPort.count) }
        text = "\(scheme)://\(authority)"
    }
}
