import AfarKeys
import AfarTransport
import AfarTrust
import Foundation

/// Returns bytes of the system's random source in base64url.
func randomText(_ count: Int) -> String { Data((0..<count).map { _ in .random(in: .min ... .max) }).base64URLEncoded }

extension String {
    /// A server's text as one short line that is safe to show in a terminal.
    var singleLine: String {
        String(unicodeScalars.prefix(500).map { $0.properties.isControl ? " " : Character($0) })
    }
}

extension Unicode.Scalar.Properties {
    /// Whether the character can control a terminal or change the order of text.
    var isControl: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}

/// Returns the SHA-256 hash (FIPS 180-4) of a text's UTF-8.
///
/// - Throws: ``OAuthError/invalidKey(_:)`` if the system's library doesn't provide the function.
func sha256(_ text: String) throws(OAuthError) -> Data {
    guard let hash = HashFunction.sha256.hash(of: Data(text.utf8)) else {
        throw .invalidKey(SignatureKeyError.unavailable("SHA-256").description)
    }
    return Data(hash)
}

/// The encoding `application/x-www-form-urlencoded` (RFC 6749, appendix B).
enum FormText {
    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += (digits.count == 1 ? "%0" : "%") + digits
            }
        }
        return encoded
    }

    static func encoded(_ parameters: [Parameter]) -> String {
        parameters.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
    }

    /// Returns the decoded parameters of a query. A malformed escape makes the value nil.
    static func decoded(_ query: String) -> [(name: String, value: String?)] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func decoded(_ text: Substring) -> String? { text.replacing("+", with: " ").removingPercentEncoding }
            return (decoded(parts[0]) ?? "", parts.count > 1 ? decoded(parts[1]) : "")
        }
    }
}

struct Parameter: Sendable, Equatable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// The scheme, host and port of a URL, with the default port if the URL has none.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    /// - Parameter permitsWebSockets: Whether the schemes `wss` and `ws` are read as `https` and `http`. The default is false.
    init?(_ url: URL, permitsWebSockets: Bool = false) {
        var scheme = url.scheme?.lowercased()
        if permitsWebSockets { scheme = ["wss": "https", "ws": "http"][scheme ?? ""] ?? scheme }
        guard let scheme, scheme == "https" || scheme == "http",
            let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// Returns whether credentials can be sent safely, because requests use TLS or stay on this machine (RFC 8252, section 7.3).
    ///
    /// - Parameter network: The settings of the requests. Proxies in the settings are ignored, because requests over http are
    ///   sent without proxies. The default is nil: no settings apply, for example because a browser sends the requests.
    func isSecure(over network: NetworkSettings? = nil) -> Bool {
        scheme == "https" || staysOnThisMachine(over: network)
    }

    /// Returns whether requests that are sent without proxies stay on this machine.
    func staysOnThisMachine(over network: NetworkSettings? = nil) -> Bool {
        let address = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return network.withoutProxies.staysOnThisMachine(scheme: scheme, authority: "\(address):\(port)")
    }
}
