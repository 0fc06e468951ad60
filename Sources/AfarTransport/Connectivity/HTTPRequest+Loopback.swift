import HTTPTypes

extension HTTPRequest {
    /// Whether the request stays on this machine, so that it needs no network: `localhost` and names below it (RFC 6761,
    /// section 6.3), 127.0.0.0/8 (RFC 1122, section 3.2.1.3) and ::1 (RFC 4291, section 2.5.3).
    var staysOnThisMachine: Bool {
        let authority = (authority ?? "").lowercased()
        guard !authority.hasPrefix("[") else { return authority.hasPrefix("[::1]") }
        var host = authority.prefix { $0 != ":" }
        if host.hasSuffix(".") { host.removeLast() }
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        return host.hasPrefix("127.") && host.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    }
}
