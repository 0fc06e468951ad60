import Foundation
import HTTPTypes

/// A hash of the password and of the request, which a server that knows the password, or its hash, can make too (RFC 7616).
///
/// Each answer is to a challenge of its own, so its count is always 1: nothing is remembered from one request to the next.
struct DigestAuthentication: AuthenticationScheme {
    let algorithm: DigestAlgorithm

    init(_ algorithm: DigestAlgorithm) { self.algorithm = algorithm }

    func accepts(_ challenge: AuthenticationChallenge) -> Bool { known(challenge) != nil }

    func accepts(user: String, password: String) -> Bool { !user.isEmpty }

    func readsBody(for challenge: AuthenticationChallenge) -> Bool { known(challenge)?.protection == .authInt }

    /// The server knows the credential, and only wants a newer nonce of its own (RFC 7616, section 3.3).
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

    /// 128 random bits.
    private static func makeNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexDigits
    }
}
