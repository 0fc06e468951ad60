package import HTTPTypes

/// Has requests by http to known hosts sent by https (RFC 6797, section 8.3).
package struct HSTSUpgrade: Sendable {
    private let store: any HSTSStore

    package init(_ store: any HSTSStore) { self.store = store }

    /// The request as it is to be sent; nil when that is as it is.
    package func upgraded(_ request: HTTPRequest) -> HTTPRequest? {
        guard request.scheme == "http", let authority = request.authority,
            store.contains(CookieDomain(authority: authority).text)
        else { return nil }
        var upgraded = request
        upgraded.scheme = "https"
        // The port of http becomes that of https, which goes without saying. Another one stays.
        if authority.hasSuffix(":80") { upgraded.authority = String(authority.dropLast(3)) }
        return upgraded
    }
}
