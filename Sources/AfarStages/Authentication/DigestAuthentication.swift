import Foundation
import HTTPTypes

/// Digest authentication (RFC 7616): sends a hash of the password and the request. A server that stores the password, or its
/// hash, can compute the same hash.
///
/// Each answer is for a new challenge. The request count of an answer is therefore always 1, and requests share no state.
struct DigestAuthentication: AuthenticationScheme {
    let algorithm: HashFunction

    /// - Parameter algorithm: MD5 or SHA-256. Challenges for other algorithms aren't supported.
    init(_ algorithm: HashFunction) { self.algorithm = algorithm }

    func accepts(_ challenge: AuthenticationChallenge) -> Bool {
        digestChallenge(from: challenge) != nil && algorithm.isAvailable
    }

    func accepts(user: String, password: String) -> Bool { !user.isEmpty }

    func takesTime(toAnswer challenge: AuthenticationChallenge) -> Bool {
        digestChallenge(from: challenge)?.protection == .authInt
    }

    /// Returns true if the server accepts the credential and only requires a newer nonce (RFC 7616, section 3.3).
    func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool {
        guard let old = digestChallenge(from: answered), let new = digestChallenge(from: challenge) else {
            return false
        }
        return challenge.parameters["stale"]?.asciiLowercased == "true" && new.nonce != old.nonce
            && new.realm == old.realm
    }

    private func digestChallenge(from challenge: AuthenticationChallenge) -> DigestChallenge? {
        DigestChallenge(challenge).flatMap { $0.algorithm == algorithm ? $0 : nil }
    }

    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError) {
        guard let digestChallenge = digestChallenge(from: challenge) else { return }
        var response = DigestResponse(
            challenge: digestChallenge, method: exchange.request.method.rawValue, uri: exchange.request.path ?? "/",
            user: user,
            password: password, cnonce: Self.makeNonce())
        if digestChallenge.protection == .authInt { response.bodyHash = try bodyHash(of: exchange) }
        guard let authorization = response.authorization else { throw hashFailure(url: exchange.url) }
        exchange.request.headerFields[.authorization] = authorization
    }

    private func hashFailure(url: String?) -> TransportError {
        .invalidCredential(
            "Digest authentication failed because no \(algorithm.rawValue.uppercased()) hash could be computed",
            url: url)
    }

    private func bodyHash(of exchange: Exchange) throws(TransportError) -> String {
        if case .stream = exchange.body {
            throw .invalidCredential(
                "the server requires a hash of the body (qop=auth-int), which is a stream", url: exchange.url)
        }
        let hash: [UInt8]?
        do {
            hash = try algorithm.hash(of: exchange.body)
        } catch {
            throw TransportError(
                .requestBodyFailed, phase: .queued, url: exchange.url,
                message: "the body could not be read for its hash, which the server requires (qop=auth-int)",
                underlying: error)
        }
        guard let hash else { throw hashFailure(url: exchange.url) }
        return hash.hexDigits
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

    /// The maximum length of a value, in bytes. Longer values aren't sent back, because no server accepts a header of that size.
    private static let longestValue = 4096

    let realm: String
    let nonce: String
    let opaque: String?
    /// MD5 or SHA-256.
    let algorithm: HashFunction
    /// The algorithm as the server wrote it; nil if the challenge doesn't specify one.
    let algorithmName: String?
    /// Whether the hash of the credential includes the nonces (`-sess`).
    let isSession: Bool
    /// Nil if the server doesn't support protection (RFC 2069).
    let protection: Protection?
    /// Whether the server declared support for UTF-8.
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
        guard let algorithm = HashFunction(rawValue: name), [.md5, .sha256].contains(algorithm) else { return nil }
        self.algorithm = algorithm
        if let offered = parameters["qop"] {
            let names = offered.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let known = [Protection.auth, .authInt].first { names.map(\.asciiLowercased).contains($0.rawValue) }
            guard let known else { return nil }
            protection = known
        } else {
            // The hash of a `-sess` algorithm needs a cnonce, which requires `qop` (RFC 2617, section 3.2.2).
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
    let cnonce: String
    /// The number of requests that were sent with the server's nonce, including this one.
    var count = 1
    /// The hash of the body, for ``DigestChallenge/Protection/authInt``.
    var bodyHash = ""

    /// The value of the header field; nil if the hash function fails.
    var authorization: String? {
        let user = composed(user)
        guard let userParameter = userParameter(user), let response = response(of: user) else { return nil }
        var parameters = [
            userParameter, "realm=\(Self.quoted(challenge.realm))", "nonce=\(Self.quoted(challenge.nonce))",
            "uri=\(Self.quoted(uri))", "response=\"\(response)\"",
        ]
        if let name = challenge.algorithmName { parameters.append("algorithm=\(name)") }
        if let protection = challenge.protection {
            parameters += ["qop=\(protection.rawValue)", "nc=\(countDigits)", "cnonce=\(Self.quoted(cnonce))"]
        }
        if let opaque = challenge.opaque { parameters.append("opaque=\(Self.quoted(opaque))") }
        if challenge.hidesUser { parameters.append("userhash=true") }
        return "Digest " + parameters.joined(separator: ", ")
    }

    /// Returns the response hash (RFC 7616, section 3.4.1), or nil if the hash function fails.
    private func response(of user: String) -> String? {
        let hash = challenge.algorithm.hexDigest(of:)
        let body = challenge.protection == .authInt ? ":\(bodyHash)" : ""
        guard let request = hash("\(method):\(uri)\(body)"),
            let credential = hash("\(user):\(challenge.realm):\(composed(password))"),
            let secret = challenge.isSession ? hash("\(credential):\(challenge.nonce):\(cnonce)") : credential
        else { return nil }
        guard let protection = challenge.protection else {
            // RFC 2069, section 2.1.2.
            return hash("\(secret):\(challenge.nonce):\(request)")
        }
        return hash("\(secret):\(challenge.nonce):\(countDigits):\(cnonce):\(protection.rawValue):\(request)")
    }

    private var countDigits: String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// Combines accents with their letters if the server supports UTF-8 (RFC 7616, section 4).
    private func composed(_ text: String) -> String {
        challenge.usesUTF8 ? text.precomposedStringWithCanonicalMapping : text
    }

    /// Returns nil if the hash function fails.
    private func userParameter(_ user: String) -> String? {
        if challenge.hidesUser {
            return challenge.algorithm.hexDigest(of: "\(user):\(challenge.realm)").map { "username=\"\($0)\"" }
        }
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

extension HashFunction {
    /// Returns the hash of a request's body. Returns nil if the body is a stream or the hash function fails.
    ///
    /// This method reads the body's file, which can take a long time. It throws an error when the task is canceled.
    fileprivate func hash(of body: RequestBody) throws -> [UInt8]? {
        guard var hash = IncrementalHash(self) else { return nil }
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
        return hash.finalize()
    }
}
