public import AfarCore
import AfarTransport
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Adds tokens to requests, and renews them.
///
/// ```swift
/// let api = URL(string: "https://api.example.com")!
/// let interceptor = OAuthInterceptor(client: client, store: store, origins: [api])
/// let session = Session(interceptor: interceptor)
/// let report = try await session.request("https://api.example.com/report").validate().serializingData().value
/// ```
///
/// The first request loads the token from the store. A token that expires within 30 seconds (or half of its lifetime, if that is
/// shorter) is renewed before it is used. If a server refuses a token with the status 401, the token is renewed and the request is sent
/// again. This requires that the request is validated. While a token is renewed, all requests wait for the same result. Canceling one
/// of them doesn't affect the others. See `AuthenticationInterceptor`, on which this class is built.
///
/// A request for which a token was renewed isn't sent again if the service also refuses the new token. If a service refuses more than 5
/// tokens in 30 seconds, its requests fail with ``OAuthError/renewedTooOften``. Other services aren't affected.
///
/// A stored token that was issued by another server, or for another client or key, is ignored.
///
/// Several sessions can share an interceptor. All methods can be called from any thread.
public final class OAuthInterceptor: RequestInterceptor {
    private let client: OAuthClient
    private let origins: Set<Origin>
    private let hasInvalidOrigin: Bool
    private let authenticator: OAuthAuthenticator
    private let interceptor: AuthenticationInterceptor<OAuthAuthenticator>
    private let records: RequestRecords

    /// Creates an interceptor that stores the token in memory.
    ///
    /// - Parameters:
    ///   - client: Renews tokens. If it has a DPoP key, requests have proofs.
    ///   - renewal: How a token is renewed. The default is ``OAuthRenewal/refreshToken``.
    ///   - origins: The URLs of the services to which tokens are sent. Only their schemes, hosts and ports count. Requests to other origins
    ///     aren't changed. If one of the URLs has no host, all requests fail.
    public convenience init(client: OAuthClient, renewal: OAuthRenewal = .refreshToken, origins: [URL]) {
        self.init(
            client: client, store: OAuthMemoryTokenStore(), renewal: renewal, origins: origins, onStoreFailure: { _ in }
        )
    }

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - client: Renews tokens. If it has a DPoP key, requests have proofs.
    ///   - store: Stores the token.
    ///   - renewal: How a token is renewed. The default is ``OAuthRenewal/refreshToken``.
    ///   - origins: The URLs of the services to which tokens are sent. Only their schemes, hosts and ports count. Requests to other origins
    ///     aren't changed. If one of the URLs has no host, all requests fail.
    ///   - onStoreFailure: Called with the error if a renewed token can't be saved. The interceptor continues to use the token, but the
    ///     user might need to sign in again after a restart. Log the error.
    public init(
        client: OAuthClient, store: any OAuthTokenStore, renewal: OAuthRenewal = .refreshToken, origins: [URL],
        onStoreFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.client = client
        let known = origins.compactMap { Origin($0) }
        self.origins = Set(known)
        hasInvalidOrigin = known.count < origins.count
        authenticator = OAuthAuthenticator(
            client: client, store: store, renewal: renewal, onStoreFailure: onStoreFailure)
        interceptor = AuthenticationInterceptor(
            authenticator: authenticator, credential: authenticator.credential(nil), refreshWindow: nil)
        records = RequestRecords(client.dpop)
    }

    /// The token that is added to requests, or nil if none has been loaded or requested yet.
    public var token: OAuthToken? { interceptor.credential?.token }

    /// Returns the token. Loads or renews it first if necessary. For example, use this method for a connection that Afar
    /// doesn't make.
    ///
    /// Concurrent calls and requests share one renewal. Canceling the task doesn't cancel the renewal.
    ///
    /// - Throws: An ``OAuthError``.
    public func validToken() async throws(OAuthError) -> OAuthToken {
        let (results, continuation) = AsyncStream<Result<OAuthToken?, any Error>>.makeStream()
        interceptor.adapt(URLRequest(url: URL(filePath: "/")), for: client.session) { [interceptor] result in
            continuation.yield(result.map { _ in interceptor.credential?.token })
            continuation.finish()
        }
        // The iteration also ends if the task is canceled.
        for await result in results {
            switch result {
            case .success(let token?): return token
            case .success(nil): throw .signInRequired
            case .failure(let error): throw error as? OAuthError ?? .tokenStoreFailed(error.localizedDescription)
            }
        }
        throw .cancelled
    }

    /// Stores a token and uses it for all further requests.
    ///
    /// - Throws: ``OAuthError/tokenStoreFailed(_:)``, or ``OAuthError/tokenMismatch`` if the token was issued by another server or for
    ///   another client or key.
    public func signIn(with token: OAuthToken) async throws(OAuthError) {
        let stored = try await authenticator.replace(with: token)
        interceptor.credential = authenticator.credential(stored)
    }

    /// Removes the token from the interceptor and the store. The token isn't revoked: see ``OAuthClient/revoke(_:)``.
    ///
    /// - Throws: ``OAuthError/tokenStoreFailed(_:)``. The next request then loads the token that is still in the store.
    public func signOut() async throws(OAuthError) {
        interceptor.credential = authenticator.credential(nil)
        _ = try await authenticator.replace(with: nil)
        interceptor.credential = authenticator.credential(nil)
    }

    // MARK: RequestInterceptor

    /// Adds the token to a request. Renews the token first if necessary.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        guard accepts(urlRequest, over: session.configuration.network, completion) else { return }
        interceptor.adapt(urlRequest, for: session) { [self] in completion(adding(nil, to: $0)) }
    }

    /// Adds the token to a request. Renews the token first if necessary.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        let request = state.request
        var network = state.session.configuration.network
        request?.options { network = $0.network ?? network }
        guard accepts(urlRequest, over: network, completion) else { return }
        if urlRequest.url.flatMap(Self.origin(of:))?.scheme == "http" {
            // Without TLS, a proxy could read the token.
            request?.options { $0.network = network.withoutProxies }
        }
        interceptor.adapt(urlRequest, using: state) { [self, weak request] in
            completion(adding(request, to: $0))
        }
    }

    /// Returns the origin of a request, which can be the handshake of a WebSocket.
    private static func origin(of url: URL) -> Origin? { Origin(url, permitsWebSockets: true) }

    /// Returns whether a request receives a token. If not, calls the completion.
    private func accepts(
        _ urlRequest: URLRequest, over network: NetworkSettings?,
        _ completion: (_ result: Result<URLRequest, any Error>) -> Void
    ) -> Bool {
        guard !EndpointSender.isSending else {
            completion(.success(urlRequest))
            return false
        }
        guard !hasInvalidOrigin else {
            completion(.failure(OAuthError.invalidArgument("An origin isn't a URL with https and a host.")))
            return false
        }
        guard let origin = urlRequest.url.flatMap(Self.origin(of:)), origins.contains(origin) else {
            completion(.success(urlRequest))
            return false
        }
        guard origin.isSecure(over: network) else {
            completion(.failure(OAuthError.insecureURL(host: origin.host)))
            return false
        }
        return true
    }

    /// Sends a request again if the server requires a nonce or refuses the token.
    @preconcurrency
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        // After a redirect, the response can be from another server.
        guard !EndpointSender.isSending, let response = request.response, response.statusCode == 401,
            let url = response.url, let origin = Self.origin(of: url), origins.contains(origin),
            let urlRequest = request.request, urlRequest.url.flatMap(Self.origin(of:)) == origin
        else { return completion(.doNotRetry) }
        if client.dpop != nil, response.requiresNonce {
            return completion(records.retriesWithNonce(request, url) ? .retry : .doNotRetry)
        }
        guard authenticator.didRequest(urlRequest, with: response, failDueToAuthenticationError: error) else {
            return completion(.doNotRetry)
        }
        let isNew = interceptor.credential.map { credential in
            credential.isIssued && authenticator.isRequest(urlRequest, authenticatedWith: credential)
        }
        guard records.permitsRenewal(for: request, refusing: isNew == true) else { return completion(.doNotRetry) }
        let token = urlRequest.value(forHTTPHeaderField: "Authorization") ?? ""
        guard authenticator.permitsRenewal(of: token, refusedBy: origin) else {
            return completion(.doNotRetryWithError(OAuthError.renewedTooOften))
        }
        interceptor.retry(request, for: session, dueTo: error, completion: completion)
    }

    // MARK: DPoP

    /// Adds a proof to a request with a token (RFC 9449, section 7.1).
    private func adding(
        _ request: Request?, to result: Result<URLRequest, any Error>
    ) -> Result<URLRequest, any Error> {
        Result {
            var urlRequest = try result.get()
            // The user has signed out while the request waited.
            guard urlRequest.value(forHTTPHeaderField: "Authorization") != nil else { throw OAuthError.signInRequired }
            guard let dpop = client.dpop else { return urlRequest }
            guard let url = urlRequest.url, let token = urlRequest.value(forHTTPHeaderField: "Authorization"),
                token.hasPrefix("DPoP ")
            else { return urlRequest }
            let nonce = dpop.nonce(for: url)
            let proof = try dpop.proof(
                method: urlRequest.httpMethod ?? "GET", url: url, accessToken: String(token.dropFirst(5)), nonce: nonce,
                date: client.now)
            urlRequest.setValue(proof, forHTTPHeaderField: "DPoP")
            if let request { records.record(nonce, of: request) }
            return urlRequest
        }
    }
}

extension HTTPURLResponse {
    /// Whether the server requires a proof with another nonce (RFC 9449, section 9).
    fileprivate var requiresNonce: Bool {
        challenges.contains { $0.scheme == "dpop" && $0.parameters["error"] == "use_dpop_nonce" }
    }
}

/// How an ``OAuthInterceptor`` gets a new token.
public struct OAuthRenewal: Sendable {
    let renew: @Sendable (OAuthClient, OAuthToken?) async throws(OAuthError) -> OAuthToken

    /// Creates a renewal.
    ///
    /// - Parameter renew: Receives the client and the stored token, if there is one. It must not send requests that wait for the new token.
    ///   If it throws an error with the code `invalid_grant`, the stored token is removed. The closure can use another client with the same
    ///   DPoP key. The stored token has no ``OAuthToken/source`` here, so that the other client can refresh it. The new token is stored
    ///   with the interceptor's client as its source.
    public init(_ renew: @escaping @Sendable (OAuthClient, OAuthToken?) async throws(OAuthError) -> OAuthToken) {
        self.renew = renew
    }

    /// Uses the refresh token. Without one, requests fail with ``OAuthError/signInRequired``.
    public static let refreshToken = refreshToken()

    /// Uses the refresh token. For the parameters, see ``OAuthClient/refresh(_:scope:resources:parameters:)``.
    public static func refreshToken(scope: String? = nil, resources: [URL] = []) -> OAuthRenewal {
        OAuthRenewal { client, token throws(OAuthError) in
            guard let token else { throw .signInRequired }
            return try await client.refresh(token, scope: scope, resources: resources)
        }
    }

    /// Uses the client credentials flow. For the parameters, see ``OAuthClient/clientCredentials(scope:resources:parameters:)``.
    public static func clientCredentials(
        scope: String? = nil, resources: [URL] = [], parameters: [String: String] = [:]
    ) -> OAuthRenewal {
        OAuthRenewal { client, _ throws(OAuthError) in
            try await client.clientCredentials(scope: scope, resources: resources, parameters: parameters)
        }
    }
}
