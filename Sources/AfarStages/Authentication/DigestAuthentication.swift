import Foundation
import HTTPTypes

/// Digest authentication (RFC 7616): sends a hash of the password and the request. A server that stores the password, or its
/// hash, can compute the same hash.
///
/// Each answer is for a new challenge, so its count is always 1, and no state is kept between requests.
struct DigestAuthentication: AuthenticationScheme {
    let algorithm: DigestAlgorithm

    init(_ algorithm: DigestAlgorithm) { self.algorithm = algorithm }

    func accepts(_ challenge: AuthenticationChallenge) -> Bool { known(challenge) != nil }

    func accepts(user: String, password: String) -> Bool { !user.isEmpty }

    func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool { known(challenge)?.protection == .authInt }

    /// The server accepts the credential, and only requires a newer nonce (RFC 7616, section 3.3).
    func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool {
        guard let old = known(answered), let new = known(challenge) else { return false }
        return challenge.parameters["stale"]?.asciiLowercased == "true" && new.nonce != old.nonce
            && new.realm == old.realm
    }

    private func known(_ challenge: AuthenticationChallenge) -> DigestChallenge? {
        DigestChallenge(challenge).flatMap { $0.algorithm == algorithm ? $0 : nil }
    }

    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        try TransportError.checkControlCharacters(user: user, password: password, url: exchange.url)
        guard let known = known(challenge) else { return }
        var response = DigestResponse(
            challenge: known, method: exchange.request.method.rawValue, uri: exchange.request.path ?? "/", user: user,
            password: password, cnonce: Self.makeNonce())
        if known.protection == .authInt { response.bodyHash = try bodyHash(of: exchange) }
        exchange.request.headerFields[.authorization] = response.authorization
    }

    private func bodyHash(of exchange: Exchange) throws(TransportError) -> String {
        do {
            if let hash = try algorithm.hash(exchange.body) { return hash }
        } catch {
            throw TransportError(
                .requestBodyFailed, phase: .queued, url: exchange.url,
                message: "the body could not be read for its hash, which the server wants (qop=auth-int)",
                underlying: error)
        }
        throw .invalidCredential(
            "the server wants a hash of the body (qop=auth-int), which is a stream", url: exchange.url)
    }

    /// Returns 128 random bits.
    private static func makeNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexDigits
    }
}

/// A challenge of the Digest scheme (RFC 7616, section 3.3) that this implementation supports.
struct DigestChallenge {
    /// The parts of the request that the answer covers (`qop`).
    enum Protection: String {
        /// The method and the URI.
        case auth
        /// The method, the URI, and the body.
        case authInt = "auth-int"
    }

    /// The maximum length in bytes of a value. Longer values aren't sent back, because no server reads a header of that size.
    private static let longestValue = 4096

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: DigestAlgorithm
    /// The algorithm as the server wrote it; nil if the challenge doesn't specify one.
    let algorithmName: String?
    /// Whether the hash of the credential includes the nonces (`-sess`).
    let isSession: Bool
    /// Nil if the server doesn't support protection (RFC 2069).
    let protection: Protection?
    /// Whether the server declared that it reads UTF-8.
    let usesUTF8: Bool
    /// Whether the server requires a hash of the user name.
    let hidesUser: Bool

    /// Returns nil if the challenge isn't for Digest, or requires an unsupported feature.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest" else { return nil }
        let parameters = challenge.parameters
        guard let realm = parameters["realm"], let nonce = parameters["nonce"] else { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = parameters["opaque"]
        algorithmName = parameters["algorithm"]
        for value in [realm, nonce, opaque ?? ""] {
            guard value.utf8.count <= Self.longestValue, !value.hasControlCharacters else { return nil }
        }
        var name = (algorithmName ?? "MD5").asciiLowercased
        isSession = name.hasSuffix("-sess")
        if isSession { name.removeLast("-sess".count) }
        guard let algorithm = DigestAlgorithm(rawValue: name) else { return nil }
        self.algorithm = algorithm
        if let offered = parameters["qop"] {
            let names = offered.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let known = [Protection.auth, .authInt].first { names.map(\.asciiLowercased).contains($0.rawValue) }
            guard let known else { return nil }
            protection = known
        } else {
            // A session's hash contains a cnonce, which can't be sent without `qop` (RFC 2617, section 3.2.2).
            guard !isSession else { return nil }
            protection = nil
        }
        usesUTF8 = parameters["charset"]?.asciiLowercased == "utf-8"
        hidesUser = parameters["userhash"]?.asciiLowercased == "true"
    }
}

/// The answer to a challenge of the Digest scheme (RFC 7616, section 3.4).
struct DigestResponse {
    let challenge: DigestChallenge
    let method: String
    /// The request's target as in the request line.
    let uri: String
    let user: String
    let password: String
    /// The client's nonce.
    let cnonce: String
    /// The number of requests that were sent with the server's nonce, including this one.
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

    /// Combines accents with their letters for a server that reads UTF-8 (RFC 7616, section 4).
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

    /// Returns a text as a quoted string (RFC 9110, section 5.6.4).
    private static func quoted(_ text: String) -> String {
        let escaped = text.utf8.flatMap { byte in
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        return "\"" + String(decoding: escaped, as: UTF8.self) + "\""
    }
}

/// A hash function. The raw value is its name in a challenge (RFC 7616, section 6.1).
enum DigestAlgorithm: String, Sendable {
    case md5 = "md5"
    case sha256 = "sha-256"

    /// Returns the hash of a text in hexadecimal digits.
    func hash(_ text: String) -> String {
        switch self {
        case .md5: MD5.hexDigest(of: text)
        case .sha256: SHA256.hexDigest(of: text)
        }
    }

    /// Returns the hash of a request's body in hexadecimal digits, or nil if the body is a stream.
    ///
    /// This method reads the file of a body, which can take long. It throws an error when the task is canceled.
    func hash(_ body: RequestBody) throws -> String? {
        switch self {
        case .md5: try Self.hash(body, by: MD5.self)
        case .sha256: try Self.hash(body, by: SHA256.self)
        }
    }

    private static func hash<Function: HashFunction>(_ body: RequestBody, by: Function.Type) throws -> String? {
        var hash = Function()
        switch body {
        case .none: break
        case .data(let data): data.withUnsafeBytes { hash.update($0) }
        case .file(let url):
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            while let chunk = try file.read(upToCount: 256 * 1024), !chunk.isEmpty {
                try Task.checkCancellation()
                chunk.withUnsafeBytes { hash.update($0) }
            }
        case .stream: return nil
        }
        return hash.finalize().hexDigits
    }
}
