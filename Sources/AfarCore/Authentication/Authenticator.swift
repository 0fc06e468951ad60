#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// What requests are authenticated with: an access token with its refresh token, say.
public protocol AuthenticationCredential {
    /// Whether the credential is to be refreshed before another request is sent with it: it has expired, or is about to.
    ///
    /// False for one whose end cannot be foreseen: that is found out when a server refuses it.
    var requiresRefresh: Bool { get }
}

/// Knows a service's way of authentication: how a request carries a credential, how a refusal looks, and where to get a
/// fresh credential. An ``AuthenticationInterceptor`` knows when to do it.
///
/// The methods are called on an unspecified thread, any but ``refresh(_:for:completion:)`` also by several at once.
public protocol Authenticator: AnyObject, Sendable {
    /// What requests are authenticated with.
    associatedtype Credential: AuthenticationCredential & Sendable

    /// Puts a credential into a request: as a bearer token in its `Authorization`, say.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Gets a fresh credential. It is called once for all requests that wait for it.
    ///
    /// Send no request for this through a session with the same interceptor: it would wait for itself.
    ///
    /// - Parameters:
    ///   - credential: The credential to refresh.
    ///   - session: The session of the request that needs it.
    ///   - completion: Takes the new credential, or the error that fails the waiting requests. It may be called from any
    ///     thread; a second call does nothing. Until it is called, requests wait; those that are cancelled do not.
    @preconcurrency
    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    )

    /// Whether a request failed because its credential was refused, so that a fresh one would help.
    ///
    /// - Parameters:
    ///   - urlRequest: The request as it was sent.
    ///   - response: The response to it.
    ///   - error: Why it failed. A status code fails a request only when it is validated.
    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Whether a request carries this credential. One that carries another was sent before the credential was replaced, and
    /// is retried with the new one at once.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}
