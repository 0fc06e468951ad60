import AfarCore
import Foundation

/// URLs as people write them.
enum URLText {
    /// Makes a whole URL of an address from the command line and more for its query.
    ///
    /// What cannot stand in a path or a query as it is gets percent-encoded; what is encoded already stays.
    static func complete(_ address: String, query: [NamedValue] = []) -> String {
        let address = withScheme(address.trimmingCharacters(in: .whitespacesAndNewlines))
        let afterScheme = address.range(of: "://")?.upperBound ?? address.startIndex
        let hostEnd = address[afterScheme...].firstIndex { "/?#".contains($0) } ?? address.endIndex
        let fragment = address[hostEnd...].firstIndex(of: "#") ?? address.endIndex
        var target = escaped(address[hostEnd..<fragment])
        if !query.isEmpty {
            let separator = !target.contains("?") ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
            target += separator + query.urlEncoded
        }
        return address[..<hostEnd] + target
    }

    /// The host, and the port if there is one: "localhost:8080".
    static func host(of url: String) -> String {
        let url = withoutUserinfo(url)
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let authority = rest.prefix { !"/?#".contains($0) }
        return String(authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority)
    }

    /// A URL that may be shown: no user name, no password.
    static func withoutUserinfo(_ url: String) -> String { url.redactingUserinfo }

    private static func withScheme(_ address: String) -> String {
        if address.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\//) != nil { return address }
        if address.hasPrefix(":") { return "http://localhost\(address)" }
        let authority = address.prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@").last ?? ""
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        let isHere = name.lowercased() == "localhost" || name.hasPrefix("127.") || name == "[::1]"
        return (isHere ? "http://" : "https://") + address
    }

    private static func escaped(_ target: Substring) -> String {
        let bytes = Array(target.utf8)
        var text = ""
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && isHex(bytes[index + 1])
                && isHex(bytes[index + 2])
            if isEscape || allowed.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += String(format: "%%%02X", Int(byte))
            }
        }
        return text
    }

    /// What may stand in a path and in a query as it is (RFC 3986, sections 3.3 and 3.4).
    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?".utf8)

    private static func isHex(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
