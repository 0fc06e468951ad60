public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An interceptor that authenticates requests. It refreshes an expired or refused credential once for all requests.
///
/// Requests are sent with the current credential. When the credential requires a refresh, or a server has refused it, the
/// interceptor refreshes the credential once. Requests that need the new credential wait for it, and refused requests are
/// retried. If the refresh fails, the waiting requests fail with its error. A request that was in flight at that time also
/// fails with this error if the server refuses it. If a request is refused and the credential has been replaced since the
/// request was sent, the request is retried immediately.
///
/// Canceling a waiting request ends only that request. The refresh continues for the other requests. Several sessions and
/// requests can share an interceptor. You can call all methods from any thread.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
    /// The type of the credential.
    public typealias Credential = AuthenticatorType.Credential

    private let authenticator: AuthenticatorType
    private let state: Locked<CredentialState<Credential>>
    private var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Authenticates requests and refreshes credentials.
    ///   - credential: The initial credential. Without a credential, requests fail with ``AuthenticationError/missingCredential``
    ///     until you set one.
    ///   - refreshWindow: The maximum number of refreshes in a period of time. Any further refresh fails with
    ///     ``AuthenticationError/excessiveRefresh``. The default is 5 in 30 seconds. If nil, there is no limit, and requests are
    ///     retried forever if the service refuses every fresh credential.
    public init(
        authenticator: AuthenticatorType,
        credential: Credential? = nil,
        refreshWindow: RefreshWindow? = RefreshWindow()
    ) {
        self.authenticator = authenticator
        state = Locked(
            CredentialState(
                credential: credential, interval: refreshWindow?.interval ?? 0,
                maximumAttempts: refreshWindow?.maximumAttempts ?? .max))
    }

    /// The credential that authenticates requests.
    ///
    /// If you set this property during a refresh, the result of the refresh is ignored. The waiting requests continue with the
    /// new credential, or fail if it is nil.
    public var credential: Credential? {
        get { state.withLock { $0.credential } }
        set {
            let (last, waiters) = state.withLock { ($0, $0.replace(with: newValue)) }
            withExtendedLifetime(last) {}
            let result = Result { () throws(any Error) in
                guard let newValue else { throw AuthenticationError.missingCredential }
                return newValue
            }
            for waiter in waiters { waiter(result) }
        }
    }

    /// Adds the credential to a request, after refreshing the credential if necessary.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: session, of: nil, completion: completion)
    }

    /// Adds the credential to a request, after refreshing the credential if necessary.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, of: state.request, completion: completion)
    }

    private func adapt(
        _ urlRequest: URLRequest, for session: Session, of request: Request?,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        let (credential, version) = state.withLock { ($0.credential, $0.version) }
        let isStale = credential?.requiresRefresh ?? false
        obtainCredential(insteadOf: isStale ? version : nil, for: session, of: request) { [authenticator] result in
            completion(
                result.map { credential in
                    var urlRequest = urlRequest
                    authenticator.apply(credential, to: &urlRequest)
                    return urlRequest
                })
        }
    }

    /// Retries a request whose credential was refused, using a fresh credential.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let urlRequest = request.request, let response = request.response,
            authenticator.didRequest(urlRequest, with: response, failDueToAuthenticationError: error)
        else { return completion(.doNotRetry) }
        let (credential, version) = state.withLock { ($0.credential, $0.version) }
        // Retry only once per credential. Otherwise, an authenticator that never recognizes its own credential would retry
        // endlessly.
        if let credential, !authenticator.isRequest(urlRequest, authenticatedWith: credential),
            request.recordRetry(with: version, as: id)
        {
            return completion(.retry)
        }
        obtainCredential(insteadOf: version, for: session, of: request) { [weak self, id, weak request] result in
            switch result {
            case .success:
                // Weak, because a refresh that never completes would retain the interceptor.
                if let self { _ = request?.recordRetry(with: state.withLock { $0.version }, as: id) }
                completion(.retry)
            case .failure(let error): completion(.doNotRetryWithError(error))
            }
        }
    }

    /// Passes a usable credential to `waiter`. If `stale` is the current version, refreshes the credential first.
    private func obtainCredential(
        insteadOf stale: Int?, for session: Session, of request: Request?,
        _ waiter: @escaping CredentialState<Credential>.Waiter
    ) {
        let began = request?.authentication(by: id).began
        let answer: CredentialState<Credential>.Waiter = { [id, weak request] result in
            request?.recordAnswer(by: id)
            waiter(result)
        }
        let uptime = session.configuration.timeSource.uptime / .seconds(1)
        let next = state.withLock {
            $0.next(insteadOf: stale, began: began, uptime: uptime, answer)
        }
        switch next {
        case .use(let credential): waiter(.success(credential))
        case .fail(let error): answer(.failure(error))
        case .wait: break
        case .refresh(let credential, let number):
            // Use a separate queue, because a `refresh` that blocks until its response arrives would deadlock on the adapters'
            // thread.
            DispatchQueue(label: "afar.authentication.refresh").asyncKeepingTransport { [authenticator, state] in
                authenticator.refresh(credential, for: session) { result in
                    let (last, waiters) = state.withLock {
                        ($0, $0.finishRefresh(number, with: result, now: Date.timeIntervalSinceReferenceDate))
                    }
                    withExtendedLifetime(last) {}
                    for waiter in waiters { waiter(result) }
                }
            }
        }
    }
}

extension AuthenticationInterceptor {
    /// The maximum number of refreshes in a period of time.
    public struct RefreshWindow: Sendable {
        /// The length of the window, in seconds. The window ends at the current time.
        public let interval: TimeInterval
        /// The maximum number of refreshes in the window.
        public let maximumAttempts: Int

        /// Creates a window.
        ///
        /// - Parameters:
        ///   - interval: The length of the window, in seconds. The default is 30.
        ///   - maximumAttempts: The maximum number of refreshes in the window. The default is 5.
        public init(interval: TimeInterval = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }
}

extension Request {
    func authentication(by id: ObjectIdentifier) -> AuthenticationRecord {
        mutable.withLock { $0.interceptorRecords.authentications[id] ?? AuthenticationRecord(began: $0.startTime ?? 0) }
    }

    /// Records that the request received the result of a refresh. Failures of earlier refreshes no longer fail the request.
    func recordAnswer(by id: ObjectIdentifier) {
        let now = Date.timeIntervalSinceReferenceDate.nextUp
        changeAuthentication(by: id) { $0.began = now }
    }

    /// Records that the request is retried with this version of the credential.
    ///
    /// - Returns: True if the request hasn't been retried with this version before.
    func recordRetry(with version: Int, as id: ObjectIdentifier) -> Bool {
        changeAuthentication(by: id) { record in
            Swift.exchange(&record.version, with: version).map { $0 < version } ?? true
        }
    }

    private func changeAuthentication<Value>(
        by id: ObjectIdentifier, _ change: (inout AuthenticationRecord) -> Value
    ) -> Value {
        mutable.withLock {
            change(&$0.interceptorRecords.authentications[id, default: AuthenticationRecord(began: $0.startTime ?? 0)])
        }
    }
}

// MARK: - Authenticators

/// A credential that authenticates requests, such as an access token with its refresh token.
public protocol AuthenticationCredential {
    /// A Boolean value that indicates whether the credential must be refreshed before its next use, because it has expired or is
    /// about to expire.
    ///
    /// Return false if the expiry is unknown. In this case, the credential is refreshed only after a server has refused it.
    var requiresRefresh: Bool { get }
}

/// A type that adds a service's credential to requests, recognizes a refused credential, and refreshes the credential. An
/// ``AuthenticationInterceptor`` decides when to call each method.
///
/// The methods are called on an unspecified thread. All except ``refresh(_:for:completion:)`` can be called concurrently.
public protocol Authenticator: AnyObject, Sendable {
    /// The type of the credential.
    associatedtype Credential: AuthenticationCredential & Sendable

    /// Adds a credential to a request, for example as a bearer token in the `Authorization` header.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Refreshes a credential. Called once for all requests that wait for the new credential.
    ///
    /// Don't send the refresh request through a session with the same interceptor: the request would wait for its own result.
    ///
    /// - Parameters:
    ///   - credential: The credential to refresh.
    ///   - session: The session of the request that needs the new credential.
    ///   - completion: Receives the new credential, or the error that fails the waiting requests. The completion can be called
    ///     from any thread; a second call has no effect. Requests wait until the completion is called or they are canceled.
    @preconcurrency
    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    )

    /// Returns whether a request failed because the server refused its credential, so a fresh credential is required.
    ///
    /// - Parameters:
    ///   - urlRequest: The request as it was sent.
    ///   - response: The response.
    ///   - error: The error that failed the request. A status code fails a request only if the request is validated.
    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Returns whether a request carries this credential. If the method returns false, the interceptor assumes that the
    /// credential was replaced after the request was sent. It immediately retries the request with the new credential.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}

// MARK: - Errors

/// The reason an ``AuthenticationInterceptor`` failed a request. It is the `error` of
/// ``AFError/requestAdaptationFailed(error:)`` or the `retryError` of
/// ``AFError/requestRetryFailed(retryError:originalError:)``.
public enum AuthenticationError: Error {
    /// The interceptor has no credential.
    case missingCredential
    /// The credential was refreshed too often within the interceptor's refresh window.
    case excessiveRefresh
}

extension AuthenticationError: LocalizedError {
    /// A human-readable description of the error.
    public var errorDescription: String? {
        switch self {
        case .missingCredential:
            "The request can't be authenticated without a credential. Set the interceptor's credential first."
        case .excessiveRefresh:
            "The credential was refreshed too often within the interceptor's refresh window, and requests with it are "
                + "still refused. Check that the authenticator recognizes its own credential, and refusals with other causes."
        }
    }
}

// MARK: - Credential state

/// The state of an ``AuthenticationInterceptor``: its credential, the callers that wait for a new credential, and the recent
/// refreshes. It performs no I/O.
struct CredentialState<Credential: Sendable> {
    /// Called with the result of a refresh.
    typealias Waiter = @Sendable (Result<Credential, any Error>) -> Void

    /// The next step for a caller that needs a credential.
    enum Next {
        case use(Credential)
        case fail(any Error)
        /// A refresh is in progress. The waiter was added to the refresh's waiters.
        case wait
        /// The caller must refresh this credential and report the result with this number. The waiter was added to the refresh's
        /// waiters.
        case refresh(Credential, number: Int)
    }

    private(set) var credential: Credential?
    /// The number of times that the credential was replaced.
    private(set) var version = 0
    /// The callers that wait for the refresh in progress, or nil if no refresh is in progress.
    private var waiters: [Waiter]?
    /// The number of refreshes started so far.
    private var number = 0
    /// The start times of recent refreshes.
    private var refreshes: [TimeInterval] = []
    /// The error of the last failed refresh of this credential, and its time.
    private var failure: (error: any Error, time: TimeInterval)?
    private let interval: TimeInterval
    private let maximumAttempts: Int

    init(credential: Credential?, interval: TimeInterval, maximumAttempts: Int) {
        self.credential = credential
        self.interval = interval
        self.maximumAttempts = maximumAttempts
    }

    /// Returns the next step for a caller that needs a credential.
    ///
    /// - Parameters:
    ///   - stale: The version of the credential that is known to be unusable, or nil.
    ///   - began: The time at which the caller's work began. If a refresh has failed since then, the caller fails with the
    ///     error of that refresh.
    ///   - uptime: The time for the refresh window, in seconds.
    mutating func next(
        insteadOf stale: Int?, began: TimeInterval?, uptime: TimeInterval, _ waiter: @escaping Waiter
    ) -> Next {
        if waiters != nil {
            waiters?.append(waiter)
            return .wait
        }
        guard let credential else { return .fail(AuthenticationError.missingCredential) }
        guard stale == version else { return .use(credential) }
        if let failure, let began, began <= failure.time { return .fail(failure.error) }
        let horizon = uptime - interval
        refreshes.removeAll { $0 <= horizon }
        guard refreshes.count < maximumAttempts else { return .fail(AuthenticationError.excessiveRefresh) }
        refreshes.append(uptime)
        waiters = [waiter]
        number += 1
        return .refresh(credential, number: number)
    }

    /// Ends a refresh and returns the waiters to call. The result is empty if the credential was replaced in the meantime or this
    /// refresh has already ended.
    mutating func finishRefresh(
        _ number: Int, with result: Result<Credential, any Error>, now: TimeInterval
    ) -> [Waiter] {
        guard number == self.number, waiters != nil else { return [] }
        switch result {
        case .success(let credential): return replace(with: credential)
        case .failure(let error):
            failure = (error, now)
            return takeWaiters()
        }
    }

    mutating func replace(with credential: Credential?) -> [Waiter] {
        self.credential = credential
        version += 1
        failure = nil
        return takeWaiters()
    }

    private mutating func takeWaiters() -> [Waiter] { waiters.take() ?? [] }
}

/// An ``AuthenticationInterceptor``'s record for one request. The record doesn't include retries by other interceptors.
struct AuthenticationRecord {
    /// The time at which the request last received the result of a refresh. Initially, the time at which the request began.
    var began: TimeInterval
    /// The latest version of the credential with which the interceptor retried the request.
    var version: Int?
}
