import Foundation

/// The answer to a challenge of the Digest scheme (RFC 7616, section 3.4): a pure value.
struct DigestResponse {
    let challenge: DigestChallenge
    let method: String
    /// The request's target as it stands in the request line.
    let uri: String
    let user: String
    let password: String
    /// The client's own nonce.
    let cnonce: String
    /// How many requests were sent with the server's nonce, this one included.
    var count = 1
    /// The hash of the body, for ``DigestChallenge/Protection/authInt``.
    var bodyHash = ""

    /// The value of the header field.
    var authorization: String {
        let user = composed(user)
        var parameters = [
            userParameter(user), "realm=\(Self.quoted(challenge.realm))", "nonce=\(Self.quoted(challenge.nonce))",
            "uri=\(Self.quoted(uri))", "response=\"\(response(of: user))\"",
        ]
        if let name = challenge.algorithmName { parameters.append("algorithm=\(name)") }
        if let protection = challenge.protection {
            parameters += ["qop=\(protection.rawValue)", "nc=\(countDigits)", "cnonce=\(Self.quoted(cnonce))"]
        }
        if let opaque = challenge.opaque { parameters.append("opaque=\(Self.quoted(opaque))") }
        if challenge.hidesUser { parameters.append("userhash=true") }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// RFC 7616, section 3.4.1.
    private func response(of user: String) -> String {
        let hash = challenge.algorithm.hash(_:) as (String) -> String
        var secret = hash("\(user):\(challenge.realm):\(composed(password))")
        if challenge.isSession { secret = hash("\(secret):\(challenge.nonce):\(cnonce)") }
        let request = challenge.protection == .authInt ? "\(method):\(uri):\(bodyHash)" : "\(method):\(uri)"
        guard let protection = challenge.protection else {
            // RFC 2069, section 2.1.2.
            return hash("\(secret):\(challenge.nonce):\(hash(request))")
        }
        return hash("\(secret):\(challenge.nonce):\(countDigits):\(cnonce):\(protection.rawValue):\(hash(request))")
    }

    private var countDigits: String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// Accents are made one with their letters for a server that reads UTF-8 (RFC 7616, section 4).
    private func composed(_ text: String) -> String {
        challenge.usesUTF8 ? text.precomposedStringWithCanonicalMapping : text
    }

    private func userParameter(_ user: String) -> String {
        if challenge.hidesUser { return "username=\"\(challenge.algorithm.hash("\(user):\(challenge.realm)"))\"" }
        guard challenge.usesUTF8, !user.allBytes({ $0 < 0x80 }) else { return "username=\(Self.quoted(user))" }
        // RFC 8187, section 3.2.1.
        let isPlain: (UInt8) -> Bool = { $0.isLetter || $0.isDigit }
        let escaped = user.utf8.map { byte in
            isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + [byte].hexDigits.uppercased()
        }
        return "username*=UTF-8''" + escaped.joined()
    }

    /// A text as a quoted string (RFC 9110, section 5.6.4).
    private static func quoted(_ text: String) -> String {
        let escaped = text.utf8.flatMap { byte in
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        return "\"" + String(decoding: escaped, as: UTF8.self) + "\""
    }
}
