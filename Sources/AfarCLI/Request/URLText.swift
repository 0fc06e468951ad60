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
        let hostEnd = afterScheme == address.endIndex ? afterScheme : authority(in: address[afterScheme...]).endIndex
        let fragment = address.unicodeScalars[hostEnd...].firstIndex(of: "#") ?? address.endIndex
        var target = escaped(address[hostEnd..<fragment])
        if !query.isEmpty {
            let separator = !target.contains("?") ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
            target += separator + query.urlEncoded
        }
        return address[..<hostEnd] + target
    }

    /// The host, and the port if there is one: "localhost:8080".
    static func host(of url: String) -> String {
        // In what is no URL the password may be anywhere.
        let url = Redaction.standard.url(url)
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(host(in: authority(in: rest)))
    }

    /// What stands before the path. By scalars: a slash is one whatever combines with it.
    private static func authority(in text: Substring) -> Substring {
        text[..<(text.unicodeScalars.firstIndex { "/?#".unicodeScalars.contains($0) } ?? text.endIndex)]
    }

    /// An authority without user name and password.
    private static func host(in authority: Substring) -> Substring {
        let scalars = authority.unicodeScalars
        return scalars.lastIndex(of: "@").map { authority[scalars.index(after: $0)...] } ?? authority
    }

    private static func withScheme(_ address: String) -> String {
        if address.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\//) != nil { return address }
        if address.hasPrefix(":") { return "http://localhost\(address)" }
        let host = host(in: authority(in: address[...]))
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        let isHere = name.lowercased() == "localhost" || name.hasPrefix("127.") || name == "[::1]"
        return (isHere ? "http://" : "https://") + address
    }

    private static func escaped(_ target: Substring) -> String {
        let bytes = Array(target.utf8)
        var text = ""
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && bytes[index + 1].isHexDigit
                && bytes[index + 2].isHexDigit
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
}
