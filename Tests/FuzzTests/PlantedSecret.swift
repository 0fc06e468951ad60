import AfarCore
import Foundation

@testable import AfarFuzz

/// Random URLs and headers that contain a secret. They are the same in every run.
struct PlantedSecret {
    /// The secret text. The surrounding bytes differ in each place.
    let marker: String
    /// A valid URL.
    let url: String
    /// An invalid URL.
    let brokenURL: String
    let headers: HTTPHeaders
    /// Whether the secret is in a parameter of the URL. Sending the request again requires such a parameter.
    let isInParameter: Bool
    private let traces: [Data]

    init(number: Int) {
        var random = SeededGenerator(seed: UInt64(number), "redaction".utf8)
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        marker = "hush" + String((0..<8).map { _ in random.pick(letters) ?? "x" })
        let bytes = Data(marker.utf8)
        // The Base64 digits that depend only on the marker, for each alignment.
        traces =
            [bytes]
            + [0, 2, 3].enumerated().map { index, first in
                Data((Data(count: index) + bytes).base64EncodedString().utf8.dropFirst(first).dropLast(4))
            }
        var maker = Maker(marker: marker, random: random)
        isInParameter = !maker.random.isOne(in: 3)
        url = isInParameter ? maker.urlWithParameter() : maker.urlWithUserinfo()
        brokenURL = maker.brokenURL()
        headers = maker.headers()
    }

    /// Returns whether a text contains the secret, in plain text or in Base64.
    func isIn(_ text: String) -> Bool {
        let text = Data(text.utf8)
        return traces.contains { text.range(of: $0) != nil }
    }
}

private struct Maker {
    let marker: String
    var random: SeededGenerator

    /// Text that can occur anywhere in a URL after the scheme, and in a text that contains URLs.
    private static let plain = [
        "a", "Z", "7", "-", ".", "_", "~", "!", "$", "'", "(", ")", "*", "+", ",", "%27", "%22", "%20", "%C3%BC",
        "%CC%81",
        "%2B", "%25", "%3C", "''", "it's",
    ]
    private static let inUserinfo = plain + [":", ";", "=", "&", "%3A", "%2F", "%40", "%3F", "%23", "%5C"]
    private static let inParameter = plain + ["@", ":", "/", "?", "=", ";", "//", "%26", "%23", "%3D", "%2F%2F", "%40"]
    private static let inBrokenURL =
        inUserinfo + [" ", "\"", "<", ">", "@", "@\u{301}", "/", "?", "#", "\\", "ü", "\u{301}"]

    private static let names = [
        "token", "access_token", "id-token", "refreshToken", "api_key", "apikey", "APIKey", "key", "sig", "Signature",
        "X-Amz-Signature", "pwd", "password", "user[password]", "client_secret", "secret", "auth", "jwt", "passwd",
        "subscription-key", "code.secret", "session_id", "JSESSIONID", "private_key", "oauth_token",
    ]
    private static let sensitiveHeaders = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Key", "X-Access-Key",
        "Ocp-Apim-Subscription-Key", "sig", "key", "pwd", "X-Auth-Token", "Client-Secret", "X-Amz-Security-Token",
        "X-Password", "X-Forwarded-Authorization", "X-Hub-Signature-256",
    ]
    private static let otherHeaders = [
        "Referer", "Location", "Content-Location", "X-Original-URL", "Origin", "Link", "Refresh",
    ]

    /// Returns the secret with random bytes before and after it.
    private mutating func secret(_ pieces: [String]) -> String {
        let before = (0..<random.number(below: 4)).map { _ in random.pick(pieces) ?? "" }
        let after = (0..<random.number(below: 4)).map { _ in random.pick(pieces) ?? "" }
        return before.joined() + marker + after.joined()
    }

    private mutating func pick(_ texts: [String]) -> String { random.pick(texts) ?? "" }

    /// Returns the name of a parameter that indicates a secret, with random case and percent-encoding.
    private mutating func name() -> String {
        var name = pick(Self.names)
        if random.isOne(in: 4) { name = name.uppercased() }
        return name.utf8.map { byte in
            let isReserved = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
            return isReserved || random.isOne(in: 8) ? String(format: "%%%02X", Int(byte)) : String(UnicodeScalar(byte))
        }.joined()
    }

    private mutating func host() -> String {
        pick(["h", "example.com", "h:8080", "[2001:db8::1]", "[::1]:81", "127.0.0.1", "my-host.local."])
    }

    private mutating func userinfo() -> String {
        random.isOne(in: 4) ? secret(Self.inUserinfo) : "ada:" + secret(Self.inUserinfo)
    }

    mutating func urlWithUserinfo() -> String {
        pick(["http", "https"]) + "://\(userinfo())@\(host())" + pick(["", "/", "/a/b?c=d", "/@me", "?a=b@c", "#part"])
    }

    mutating func urlWithParameter() -> String {
        let start = pick(["http", "https"]) + "://\(host())/" + pick(["", "a", "a/b", "a%20b", "@me", "a//b"])
        let parameter = "\(name())\(pick(["=", "=", "=", "%3D"]))\(secret(Self.inParameter))"
        let end = pick(["", "", "&b=c", "&b=c#d", "#d"])
        switch random.number(below: 7) {
        case 0: return start + "#" + parameter
        case 1: return start + "?a=b&" + parameter + end
        case 2: return start + "?a=b;" + parameter + end
        // In a path, a slash or a question mark ends a parameter.
        case 3: return start + ";\(name())=\(secret(Self.plain))" + pick(["", "/b", "?c=d", ";e=f"])
        case 4: return start + "?to=" + escaped(random.isOne(in: 2) ? urlWithParameter() : urlWithUserinfo()) + end
        case 5: return start + "?to=" + urlWithUserinfo()
        default: return start + "?" + parameter + end
        }
    }

    mutating func brokenURL() -> String {
        // A password that begins with a digit could be a port, followed by a path.
        let password = "p" + secret(Self.inBrokenURL)
        switch random.number(below: 4) {
        case 0: return "ada:\(password)@\(host())/"
        case 1: return "http://ada:\(password)@ho st/"
        case 2: return "//ada:p\(secret(Self.inUserinfo))@\(host())/"
        default: return "http:///ada:\(password)@\(host())/"
        }
    }

    mutating func headers() -> HTTPHeaders {
        let scheme = pick(["", "Basic ", "Bearer ", "Digest a=b, ", "Own "])
        let url = random.isOne(in: 2) ? urlWithParameter() : urlWithUserinfo()
        let text = pick([url, "<\(url)>; rel=next", "0;url=\(url)", "\"\(url)\"", "see \(url)."])
        return [
            HTTPHeader(
                name: pick(Self.sensitiveHeaders), value: scheme + secret(Self.inBrokenURL.filter { $0 != " " })),
            HTTPHeader(name: pick(Self.otherHeaders), value: text),
        ]
    }

    private func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
