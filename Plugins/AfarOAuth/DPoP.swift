import AfarTransport
public import Foundation

/// A key that binds tokens to this client (DPoP, RFC 9449), and the nonces of servers.
///
/// A bound token is useless without the key. Each attempt of a request has a new proof, which is valid only for its method and URL.
/// Clients and interceptors can share an object. All methods can be called from any thread.
public final class OAuthDPoP: Sendable {
    /// The maximum number of servers whose nonces are stored.
    private static let maximumNonces = 100
    /// The maximum length of a nonce in bytes.
    private static let longestNonce = 1_000

    /// The private key.
    public let key: any OAuthSigner

    /// The last nonce of each server.
    private let nonces = Locked<[Origin: String]>([:])

    /// Creates an object.
    ///
    /// - Parameter key: A private key. Refresh tokens of public clients can be used only with the key with which they were requested, so
    ///   store the key with the token.
    public init(key: any OAuthSigner) { self.key = key }

    /// Returns a proof for a request with a token (RFC 9449, section 7.1). Use this method for a request that Afar doesn't send. Send the
    /// proof in the field `DPoP`, and the token in `Authorization` with the scheme `DPoP`.
    ///
    /// A proof is valid only for one request, with the last nonce that ``receive(nonce:from:)`` stored for the server. An
    /// ``OAuthInterceptor`` adds proofs to its requests itself.
    ///
    /// - Parameters:
    ///   - token: The token, for example the result of ``OAuthInterceptor/validToken()``.
    ///   - method: The method of the request.
    ///   - url: The URL of the request. Its query and fragment aren't part of the proof.
    ///   - date: The current date. The default is the system's.
    /// - Throws: ``OAuthError/invalidArgument(_:)`` if the URL has no host, or ``OAuthError/invalidKey(_:)`` if the key can't sign.
    public func proof(
        for token: OAuthToken, method: String, url: URL, date: Date = Date()
    ) throws(OAuthError) -> String {
        try proof(method: method, url: url, accessToken: token.accessToken, nonce: nonce(for: url), date: date)
    }

    /// Returns a proof for a request (RFC 9449, section 4.2).
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL. Its query and fragment aren't part of the proof.
    ///   - accessToken: The token that the request contains, or nil for requests to the authorization server.
    ///   - nonce: The server's last nonce, or nil.
    ///   - date: The current date.
    func proof(
        method: String, url: URL, accessToken: String?, nonce: String?, date: Date
    ) throws(OAuthError) -> String {
        var claims = ["jti": randomText(16), "htm": method, "htu": try Self.target(of: url)]
        if let accessToken { claims["ath"] = try sha256(accessToken).base64URLEncoded }
        if let nonce { claims["nonce"] = nonce }
        return try key.token(header: ["typ": "dpop+jwt"], hasJWK: true, claims: claims, times: ["iat": date])
    }

    /// Returns a URL without user name, query, fragment and default port.
    static func target(of url: URL) throws(OAuthError) -> String {
        guard let origin = Origin(url, permitsWebSockets: true),
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else {
            throw .invalidArgument("A proof requires a URL with https and a host.")
        }
        components.scheme = origin.scheme
        (components.query, components.fragment, components.user, components.password) = (nil, nil, nil, nil)
        components.percentEncodedHost = components.percentEncodedHost?.lowercased()
        if origin.port == (origin.scheme == "https" ? 443 : 80) { components.port = nil }
        if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
        return components.string ?? ""
    }

    func nonce(for url: URL) -> String? {
        Origin(url, permitsWebSockets: true).flatMap { origin in nonces.withLock { $0[origin] } }
    }

    /// Stores the nonce of a response (RFC 9449, section 8.2). An ``OAuthInterceptor`` and an ``OAuthClient`` do this for their requests.
    ///
    /// - Parameters:
    ///   - nonce: The value of the field `DPoP-Nonce`. A missing or invalid value is ignored.
    ///   - url: The URL of the request.
    public func receive(nonce: String?, from url: URL) {
        guard let nonce, let origin = Origin(url, permitsWebSockets: true), !nonce.isEmpty,
            nonce.utf8.count <= Self.longestNonce,
            nonce.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        else { return }
        nonces.withLock { nonces in
            if nonces[origin] == nil, nonces.count >= Self.maximumNonces { nonces.removeAll() }
            nonces[origin] = nonce
        }
    }
}
