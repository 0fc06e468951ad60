import Foundation

/// A challenge of the Digest scheme (RFC 7616, section 3.3) that can be answered here.
struct DigestChallenge {
    /// What of the request the answer covers (`qop`).
    enum Protection: String {
        /// The method and the URI.
        case auth
        /// The body, too.
        case authInt = "auth-int"
    }

    /// Longer values are not sent back: no server reads a header of that size.
    private static let longestValue = 4096

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: DigestAlgorithm
    /// The algorithm as the server wrote it; nil when it did not.
    let algorithmName: String?
    /// Whether the hash of the credential takes in the nonces (`-sess`).
    let isSession: Bool
    /// Nil for a server that knows none (RFC 2069).
    let protection: Protection?
    /// Whether the server has said that it reads UTF-8.
    let usesUTF8: Bool
    /// Whether the server wants the user's name hashed.
    let hidesUser: Bool

    /// Nil when it is none of Digest, or one that demands what is unknown here.
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
            // The hash of a session has a cnonce in it, which cannot be sent without `qop` (RFC 2617, section 3.2.2).
            guard !isSession else { return nil }
            protection = nil
        }
        usesUTF8 = parameters["charset"]?.asciiLowercased == "utf-8"
        hidesUser = parameters["userhash"]?.asciiLowercased == "true"
    }
}
