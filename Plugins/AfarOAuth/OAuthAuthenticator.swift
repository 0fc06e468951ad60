import AfarCore
import AfarKeys
import AfarStages
import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The token of an interceptor.
struct OAuthCredential: AuthenticationCredential, Sendable {
    /// The token, or nil if it hasn't been loaded from the store.
    let token: OAuthToken?
    private let timeSource: TimeSource
    /// How long before its expiration date the token is renewed, in seconds: 30, or half of the lifetime of a token with a short one.
    private let leeway: TimeInterval

    init(token: OAuthToken?, timeSource: TimeSource) {
        self.token = token
        self.timeSource = timeSource
        let lifetime = token?.expirationDate?.timeIntervalSince(timeSource.now) ?? 60
        leeway = min(30, max(0, lifetime / 2))
    }

    var requiresRefresh: Bool { token?.isExpired(at: timeSource.now, leeway: leeway) ?? true }

    var header: String? { token.map { "\($0.scheme) \($0.accessToken)" } }
}

/// Renews the token of an ``OAuthInterceptor`` in its store.
final class OAuthAuthenticator: Authenticator {
    /// A token that the server issued but the store couldn't save.
    private struct Unsaved {
        let accessToken: String?
        let new: OAuthToken
    }

    private let client: OAuthClient
    private let store: any OAuthTokenStore
    private let renewal: OAuthRenewal
    private let onStoreFailure: @Sendable (any Error) -> Void
    private let unsaved = Locked<Unsaved?>(nil)
    private let limit = RenewalLimit()

    init(
        client: OAuthClient, store: any OAuthTokenStore, renewal: OAuthRenewal,
        onStoreFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.client = client
        self.store = store
        self.renewal = renewal
        self.onStoreFailure = onStoreFailure
    }

    func credential(_ token: OAuthToken?) -> OAuthCredential {
        OAuthCredential(token: token, timeSource: client.session.configuration.timeSource)
    }

    /// Replaces the stored token, and forgets one that couldn't be saved.
    func replace(with token: OAuthToken?) async throws(OAuthError) {
        limit.reset()
        do {
            try await store.update { _ in token }
        } catch {
            throw Self.storeFailure(error)
        }
        unsaved.withLock { $0 = nil }
    }

    // MARK: Authenticator

    func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
        urlRequest.setValue(credential.header, forHTTPHeaderField: "Authorization")
    }

    func refresh(
        _ credential: OAuthCredential, for session: Session,
        completion: @escaping @Sendable (Result<OAuthCredential, any Error>) -> Void
    ) {
        Task(executorPreference: DispatchExecutor.shared) {
            completion(await self.renewed(credential).mapError { $0 })
        }
    }

    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool {
        guard response.statusCode == 401 else { return false }
        // A new token doesn't resolve these errors (RFC 6750, section 3.1; RFC 9449, section 7.1; RFC 9470, section 3).
        let others: Set = [
            "insufficient_scope", "invalid_request", "invalid_dpop_proof", "use_dpop_nonce",
            "insufficient_user_authentication",
        ]
        return !response.challenges.contains { challenge in
            ["bearer", "dpop"].contains(challenge.scheme) && others.contains(challenge.parameters["error"] ?? "")
        }
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
        guard let sent = urlRequest.value(forHTTPHeaderField: "Authorization"), let header = credential.header else {
            return false
        }
        return Hashing.equalInConstantTime(sent.utf8, header.utf8)
    }

    // MARK: Renewal

    /// Returns the stored token, after renewing it if it is the refused one or has expired.
    private func renewed(_ credential: OAuthCredential) async -> Result<OAuthCredential, OAuthError> {
        let outcome = Locked<Result<OAuthToken, OAuthError>?>(nil)
        do {
            try await store.update { stored in
                let current = self.current(stored)
                if let current, current.accessToken != credential.token?.accessToken,
                    !current.isExpired(at: self.client.now)
                {
                    // Another process has renewed the token, or the interceptor hasn't loaded it yet.
                    outcome.withLock { $0 = .success(current) }
                    return current
                }
                do throws(OAuthError) {
                    let timeSource = self.client.session.configuration.timeSource
                    guard self.limit.permits(at: timeSource.uptime) else { throw .renewedTooOften }
                    let new = try await self.renewal.renew(self.client, current)
                    self.limit.count(at: timeSource.uptime)
                    self.unsaved.withLock { $0 = Unsaved(accessToken: stored?.accessToken, new: new) }
                    outcome.withLock { $0 = .success(new) }
                    return new
                } catch {
                    outcome.withLock { $0 = .failure(error) }
                    // The refresh token is invalid, so the user must sign in again.
                    if error.code == .invalidGrant { return nil }
                    throw error
                }
            }
            unsaved.withLock { $0 = nil }
        } catch {
            switch outcome.withLock({ $0 }) {
            case nil: return .failure(Self.storeFailure(error))
            // The server has already replaced the refresh token, so the new token is used although it couldn't be saved.
            case .success: onStoreFailure(error)
            case .failure: break
            }
        }
        return (outcome.withLock { $0 } ?? .failure(.signInRequired)).map { self.credential($0) }
    }

    /// Returns the newest token: the stored one, or the one that replaced it but couldn't be saved.
    private func current(_ stored: OAuthToken?) -> OAuthToken? {
        unsaved.withLock { unsaved in
            guard let last = unsaved, last.accessToken == stored?.accessToken else {
                unsaved = nil
                return stored
            }
            return last.new
        }
    }

    private static func storeFailure(_ error: any Error) -> OAuthError {
        switch error {
        case let error as OAuthError: error
        case is CancellationError: .cancelled
        default: .tokenStoreFailed(error.localizedDescription)
        }
    }
}

/// Limits renewals, because a service can refuse every new token. Unlike the limit of an `AuthenticationInterceptor`, it counts only new tokens, not
/// loading the stored token or failures.
private final class RenewalLimit: Sendable {
    private static let maximumCount = 5
    private static let interval = Duration.seconds(30)

    private let times = Locked<[Duration]>([])

    /// Returns whether the token can be renewed.
    func permits(at uptime: Duration) -> Bool {
        times.withLock { times in
            times.removeAll { $0 <= uptime - Self.interval }
            return times.count < Self.maximumCount
        }
    }

    /// Counts a new token.
    func count(at uptime: Duration) { times.withLock { $0.append(uptime) } }

    /// Forgets all tokens, because the user has signed in or out.
    func reset() { times.withLock { $0 = [] } }
}

extension HTTPURLResponse {
    /// The challenges of the response (RFC 9110, section 11.6.1).
    var challenges: [AuthenticationChallenge] {
        AuthenticationChallenge.challenges(
            in: headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value))
    }
}
