import Foundation

/// An authorization that waits for the browser's redirect, in a form that can be stored.
///
/// ```swift
/// let data = try JSONEncoder().encode(authorization.pending)
/// // In another process, after removing the stored data:
/// let pending = try JSONDecoder().decode(OAuthPendingAuthorization.self, from: data)
/// let token = try await client.authorization(resuming: pending).token(redirectedTo: url)
/// ```
///
/// The encoded form contains the secrets of the authorization: its `state` and its verifier (RFC 7636). Store it where only your program
/// can read it, for at most a few minutes. Bind it to the browser's session, so that the redirect of another browser isn't accepted (RFC
/// 9700, section 4.7). Remove it before you use it: using a code twice can revoke the tokens of the first use (RFC 6749, section 4.1.2).
/// Descriptions and mirrors hide the secrets.
public struct OAuthPendingAuthorization: Sendable, Hashable, Codable {
    let url: URL
    let redirectURI: URL
    let state: String
    let verifier: String
    let resources: [String]
    let source: OAuthTokenSource
}

extension OAuthPendingAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The redirect URI. The text contains neither the state nor the verifier.
    public var description: String { "pending authorization with redirect to \(redirectURI)" }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// A mirror without the state and the verifier.
    public var customMirror: Mirror { Mirror(self, children: ["redirectURI": redirectURI]) }
}

extension OAuthClient {
    /// Returns an authorization that another process has stored.
    ///
    /// - Parameter pending: The ``OAuthAuthorization/pending`` form of an authorization of this client.
    /// - Throws: ``OAuthError/tokenMismatch`` if it belongs to another server, client or DPoP key.
    public func authorization(resuming pending: OAuthPendingAuthorization) throws(OAuthError) -> OAuthAuthorization {
        guard try source.matches(pending.source) else { throw .tokenMismatch }
        return OAuthAuthorization(
            url: pending.url, redirectURI: pending.redirectURI, client: self, state: pending.state,
            verifier: CodeVerifier(text: pending.verifier),
            resources: pending.resources.map { Parameter("resource", $0) })
    }
}
