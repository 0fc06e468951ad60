public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Authenticates requests, and refreshes the credential when it has to be: once for all requests that need it.
///
/// A request is sent with the credential that is there. When that requires a refresh, or a server has refused it, one
/// refresh is made; the requests that need it wait, those that were refused are retried, and when it fails, they all fail
/// with its error: those too that were under way by then. A request that was refused with a credential that has been
/// replaced meanwhile is retried at once.
///
/// Cancelling a request that waits ends it at once and leaves the refresh to the others. One interceptor may serve several
/// sessions and requests; all its methods may be called from any thread.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
    /// What requests are authenticated with.
    public typealias Credential = AuthenticatorType.Credential

    private let authenticator: AuthenticatorType
    private let state: Locked<CredentialState<Credential>>
    private var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Knows how to authenticate a request, and how to refresh a credential.
    ///   - credential: What requests are authenticated with. Without one they fail with
    ///     ``AuthenticationError/missingCredential``, until it is set.
    ///   - refreshWindow: How many refreshes are allowed in how much time; more fail with
    ///     ``AuthenticationError/excessiveRefresh``. The default is 5 in 30 seconds, nil means no limit: then a service that
    ///     refuses each fresh credential is asked for ever.
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

    /// What requests are authenticated with.
    ///
    /// Setting it ends the waiting of those that wait for a refresh: they go on with it, or fail when it is nil. What the
    /// refresh brings then is ignored.
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

    /// Puts the credential into a request, after a refresh if it requires one.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: session, of: nil, completion: completion)
    }

    /// Puts the credential into a request, after a refresh if it requires one.
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
        obtain(insteadOf: isStale ? version : nil, for: session, of: request) { [authenticator] result in
            completion(
                result.map { credential in
                    var urlRequest = urlRequest
                    authenticator.apply(credential, to: &urlRequest)
                    return urlRequest
                })
        }
    }

    /// Retries a request whose credential was refused, with a fresh one.
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
        // Once for each credential: an authenticator that does not know its own shall not retry for ever.
        if let credential, !authenticator.isRequest(urlRequest, authenticatedWith: credential),
            request.mayRetry(with: version, as: id)
        {
            return completion(.retry)
        }
        obtain(insteadOf: version, for: session, of: request) { [weak self, id, weak request] result in
            switch result {
            case .success:
                // Weak, as the state keeps this while it waits, for ever if nobody answers.
                if let self { _ = request?.mayRetry(with: state.withLock { $0.version }, as: id) }
                completion(.retry)
            case .failure(let error): completion(.doNotRetryWithError(error))
            }
        }
    }

    /// Hands a credential to somebody, after a refresh if what is there will not do.
    private func obtain(
        insteadOf stale: Int?, for session: Session, of request: Request?,
        _ waiter: @escaping CredentialState<Credential>.Waiter
    ) {
        let began = request?.authentication(by: id).began
        let answer: CredentialState<Credential>.Waiter = { [id, weak request] result in
            request?.noteAnswer(by: id)
            waiter(result)
        }
        let next = state.withLock {
            $0.next(insteadOf: stale, began: began, now: Date.timeIntervalSinceReferenceDate, answer)
        }
        switch next {
        case .use(let credential): waiter(.success(credential))
        case .fail(let error): answer(.failure(error))
        case .wait: break
        case .refresh(let credential, let number):
            // Elsewhere: one that waits for its answer would hold up all adapters of the session, and so itself.
            DispatchQueue(label: "afar.authentication.refresh").asyncWithTransport { [authenticator, state] in
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
    /// How many refreshes are allowed in how much time.
    public struct RefreshWindow: Sendable {
        /// How far the window reaches back from now, in seconds.
        public let interval: TimeInterval
        /// How often a credential may be refreshed in that time.
        public let maximumAttempts: Int

        /// Makes a window.
        ///
        /// - Parameters:
        ///   - interval: How far it reaches back, in seconds. The default is 30.
        ///   - maximumAttempts: How often a credential may be refreshed in that time. The default is 5.
        public init(interval: TimeInterval = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }
}

extension Request {
    /// - Parameter id: Which interceptor.
    func authentication(by id: ObjectIdentifier) -> AuthenticationRecord {
        mutable.withLock { $0.interceptorRecords.authentications[id] ?? AuthenticationRecord(began: $0.startTime ?? 0) }
    }

    /// The request learns what a refresh came to. Only a later one can be its failure again.
    func noteAnswer(by id: ObjectIdentifier) {
        let now = Date.timeIntervalSinceReferenceDate.nextUp
        changeAuthentication(by: id) { $0.began = now }
    }

    /// Notes that the request is retried with this version of the credential.
    ///
    /// - Returns: Whether it was not retried with it before.
    func mayRetry(with version: Int, as id: ObjectIdentifier) -> Bool {
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
