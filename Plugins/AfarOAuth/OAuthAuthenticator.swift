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
    /// Whether the token was issued for this interceptor, instead of loaded from the store.
    let isIssued: Bool
    private let timeSource: TimeSource

    init(token: OAuthToken?, isIssued: Bool, timeSource: TimeSource) {
        self.token = token
        self.isIssued = isIssued
        self.timeSource = timeSource
    }

    var requiresRefresh: Bool { token?.isExpired(at: timeSource.now) ?? true }

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
    private let expirations = TokenLimit()
    private let refusals = Locked<[Origin: TokenLimit]>([:])

    init(
        client: OAuthClient, store: any OAuthTokenStore, renewal: OAuthRenewal,
        onStoreFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.client = client
        self.store = store
        self.renewal = renewal
        self.onStoreFailure = onStoreFailure
    }

    private var timeSource: TimeSource { client.session.configuration.timeSource }

    func credential(_ token: OAuthToken?, isIssued: Bool = false) -> OAuthCredential {
        OAuthCredential(token: token, isIssued: isIssued, timeSource: timeSource)
    }

    /// Replaces the stored token, and forgets a token that couldn't be saved. Returns the new token.
    func replace(with token: OAuthToken?) async throws(OAuthError) -> OAuthToken? {
        if let token, try !client.issued(token) { throw .tokenMismatch }
        let token = try token.map(recorded)
        expirations.reset()
        refusals.withLock { $0 = [:] }
        do {
            // Signing out doesn't remove a token of another source.
            try await store.update { stored in
                if token == nil, let stored, try !self.client.issued(stored) { return stored }
                return token
            }
        } catch {
            throw Self.storeFailure(error)
        }
        unsaved.withLock { $0 = nil }
        return token
    }

    /// Counts a token that a service has refused. Returns false if the service has refused too many tokens. A new token is then
    /// useless.
    func permitsRenewal(of token: String, refusedBy origin: Origin) -> Bool {
        refusals.withLock { refusals in
            let limit = refusals[origin] ?? TokenLimit()
            refusals[origin] = limit
            return limit.count(token, at: timeSource.uptime)
        }
    }

    // MARK: Authenticator

    func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
        urlRequest.setValue(credential.header, forHTTPHeaderField: "Authorization")
    }

    func refresh(
        _ credential: OAuthCredential, for session: Session,
        completion: @escaping @Sendable (Result<OAuthCredential, any Error>) -> Void
    ) {
        Task(executorPreference: QueueExecutor.global) {
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

    /// Returns the stored token. If the stored token has expired or is the token of `credential`, renews it first.
    private func renewed(_ credential: OAuthCredential) async -> Result<OAuthCredential, OAuthError> {
        let outcome = Locked<Result<OAuthCredential, OAuthError>?>(nil)
        do {
            // A usable token can be read even if the store can't be changed.
            if let token = try usable(try await store.load(), insteadOf: credential) {
                return .success(self.credential(token))
            }
            try await store.update { stored in
                do throws(OAuthError) {
                    if let token = try self.usable(stored, insteadOf: credential) {
                        outcome.withLock { $0 = .success(self.credential(token)) }
                        return token
                    }
                    if let stored, stored.refreshToken != nil, try !self.client.issued(stored) {
                        // A refresh token of another source isn't overwritten.
                        throw .tokenMismatch
                    }
                    let new = try await self.issuedToken(
                        replacing: self.current(stored), hasExpired: credential.requiresRefresh)
                    self.unsaved.withLock { $0 = Unsaved(accessToken: stored?.accessToken, new: new) }
                    outcome.withLock { $0 = .success(self.credential(new, isIssued: true)) }
                    return new
                } catch {
                    outcome.withLock { $0 = .failure(error) }
                    // The refresh token is invalid, so the user must sign in again.
                    if error.code == .invalidGrant, (try? self.current(stored)) != nil { return nil }
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
        return outcome.withLock { $0 } ?? .failure(.signInRequired)
    }

    /// Requests a new token.
    ///
    /// - Parameters:
    ///   - current: The stored token.
    ///   - hasExpired: Whether the stored token has expired. Some tokens expire immediately, so this method limits their
    ///     number. Refused tokens are limited elsewhere, for each service.
    private func issuedToken(
        replacing current: OAuthToken?, hasExpired: Bool
    ) async throws(OAuthError) -> OAuthToken {
        guard !hasExpired || expirations.hasRoom(at: timeSource.uptime) else { throw .renewedTooOften }
        var current = current
        // A custom renewal can use another client. The other client's methods would refuse a token whose source is `client`.
        current?.source = nil
        var new = try await renewal.renew(client, current)
        // A token that expires before it can be sent would be renewed forever.
        if new.isExpired(at: client.now.addingTimeInterval(0.1)) {
            expirations.count(new.accessToken, at: timeSource.uptime)
        }
        new.source = nil
        return try recorded(new)
    }

    /// Returns the stored token if it can be sent: another process has renewed it, or the interceptor hasn't loaded it yet.
    private func usable(
        _ stored: OAuthToken?, insteadOf credential: OAuthCredential
    ) throws(OAuthError) -> OAuthToken? {
        guard let current = try current(stored), current.accessToken != credential.token?.accessToken,
            !current.isExpired(at: client.now)
        else { return nil }
        return current
    }

    /// Returns the newest token: the stored token, or a token that replaced it but couldn't be saved. Ignores a token of another
    /// source.
    private func current(_ stored: OAuthToken?) throws(OAuthError) -> OAuthToken? {
        let last = unsaved.withLock { unsaved in
            if let last = unsaved, last.accessToken != stored?.accessToken { unsaved = nil }
            return unsaved?.new
        }
        guard let token = last ?? stored, try client.issued(token) else { return nil }
        return token
    }

    /// Returns a token with its source and lifetime. The lifetime determines how long before its expiration date the token is
    /// renewed.
    private func recorded(_ token: OAuthToken) throws(OAuthError) -> OAuthToken {
        var token = token
        if token.source == nil { token.source = try client.source }
        token.lifetime = token.lifetime ?? token.expirationDate.map { max(0, $0.timeIntervalSince(client.now)) }
        return token
    }

    private static func storeFailure(_ error: any Error) -> OAuthError {
        switch error {
        case let error as OAuthError: error
        case is CancellationError: .cancelled
        default: .tokenStoreFailed(error.localizedDescription)
        }
    }
}

/// Limits the number of tokens that are refused, or that have expired when they arrive. Unlike the limit of an `AuthenticationInterceptor`,
/// it doesn't count failures or the loading of the stored token.
private final class TokenLimit: Sendable {
    private static let maximumCount = 5
    private static let interval = Duration.seconds(30)

    private let times = Locked<[String: Duration]>([:])

    /// Returns whether another token can be counted.
    func hasRoom(at uptime: Duration) -> Bool { times.withLock { Self.hasRoom(&$0, uptime) } }

    /// Counts a token that hasn't been counted yet. Returns false if too many other tokens have been counted.
    @discardableResult
    func count(_ token: String, at uptime: Duration) -> Bool {
        times.withLock { times in
            let hasRoom = Self.hasRoom(&times, uptime)
            guard times[token] == nil else { return true }
            if hasRoom { times[token] = uptime }
            return hasRoom
        }
    }

    /// Forgets all tokens, because the user has signed in or out.
    func reset() { times.withLock { $0 = [:] } }

    private static func hasRoom(_ times: inout [String: Duration], _ uptime: Duration) -> Bool {
        times = times.filter { $0.value > uptime - interval }
        return times.count < maximumCount
    }
}

extension HTTPURLResponse {
    /// The challenges of the response (RFC 9110, section 11.6.1).
    var challenges: [AuthenticationChallenge] {
        AuthenticationChallenge.challenges(
            in: headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value))
    }
}
