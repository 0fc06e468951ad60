import HTTPTypes

extension HTTPRequest {
    /// Whether the request stays on this machine, so that it needs no network: `localhost` and names below it (RFC 6761,
    /// section 6.3), 127.0.0.0/8 (RFC 1122, section 3.2.1.3) and ::1 (RFC 4291, section 2.5.3).
    var staysOnThisMachine: Bool {
        let authority = (authority ?? "").utf8
        guard authority.first != UInt8(ascii: "[") else { return authority.starts(with: "[::1]".utf8) }
        var host = authority.prefix { $0 != UInt8(ascii: ":") }
        if host.last == UInt8(ascii: ".") { host.removeLast() }
        if host.starts(with: "127.".utf8) { return host.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") } }
        let name = host.suffix(".localhost".utf8.count).map(\.asciiLowercased)
        return name.elementsEqual(".localhost".utf8) || host.count == name.count && name.elementsEqual("localhost".utf8)
    }
}
