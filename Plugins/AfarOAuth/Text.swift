import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

extension Data {
    /// The bytes in base64url without padding (RFC 7515, section 2).
    var base64URLText: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Returns bytes of the system's random source.
    static func random(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

/// Returns the SHA-256 hash (FIPS 180-4) of a text's UTF-8.
///
/// - Throws: ``OAuthError/invalidKey(_:)`` if the system's library doesn't provide the function.
func sha256(_ text: String) throws(OAuthError) -> Data {
    #if canImport(CryptoKit)
        return Data(SHA256.hash(data: Data(text.utf8)))
    #else
        var hash = [UInt8](repeating: 0, count: 32)
        let bytes = Array(text.utf8)
        guard EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha256(), nil) == 1 else {
            ERR_clear_error()
            throw .invalidKey("OpenSSL can't compute SHA-256.")
        }
        return Data(hash)
    #endif
}

/// Returns whether two texts are equal. The duration doesn't depend on the position of the first difference.
func isEqualInConstantTime(_ first: String, _ second: String) -> Bool {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
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

/// A parameter of a request.
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

    /// Whether requests stay on this machine (RFC 8252, section 7.3).
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether credentials can be sent: with TLS, or within this machine.
    var isSecure: Bool { scheme == "https" || isLoopback }
}
