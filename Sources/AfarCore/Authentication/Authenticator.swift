#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A credential that authenticates requests, such as an access token with its refresh token.
public protocol AuthenticationCredential {
    /// A Boolean value that indicates whether the credential must be refreshed before it is sent again, because it has expired or
    /// soon will.
    ///
    /// Return false if the expiry is unknown; the credential is then refreshed after a server has refused it.
    var requiresRefresh: Bool { get }
}

/// A type that implements a service's authentication: how a request carries a credential, how to recognize a refusal, and how to
/// refresh the credential. An ``AuthenticationInterceptor`` decides when to do each.
///
/// The methods are called on an unspecified thread. All except ``refresh(_:for:completion:)`` can be called concurrently.
public protocol Authenticator: AnyObject, Sendable {
    /// The type of the credential.
    associatedtype Credential: AuthenticationCredential & Sendable

    /// Adds a credential to a request, for example as a bearer token in the `Authorization` header.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Refreshes a credential. Called once for all requests that wait for the new one.
    ///
    /// Don't send the refresh request through a session with the same interceptor: it would wait for itself.
    ///
    /// - Parameters:
    ///   - credential: The credential to refresh.
    ///   - session: The session of the request that needs it.
    ///   - completion: Receives the new credential, or the error that fails the waiting requests. It can be called from any
    ///     thread; a second call has no effect. Requests wait until it is called or they are cancelled.
    @preconcurrency
    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    )

    /// Returns whether a request failed because its credential was refused, so that a fresh one would help.
    ///
    /// - Parameters:
    ///   - urlRequest: The request as it was sent.
    ///   - response: The response.
    ///   - error: The error that failed the request. A status code fails a request only if it is validated.
    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Returns whether a request carries this credential. A request with another credential was sent before the credential was
    /// replaced, and is retried immediately with the new one.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}
