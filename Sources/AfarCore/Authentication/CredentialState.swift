import Foundation

/// The state of an ``AuthenticationInterceptor``: its credential, the callers that wait for a new one, and the recent refreshes.
/// It performs no I/O.
struct CredentialState<Credential: Sendable> {
    /// Called with the result of a refresh.
    typealias Waiter = @Sendable (Result<Credential, any Error>) -> Void

    /// The next step for a caller that needs a credential.
    enum Next {
        case use(Credential)
        case fail(any Error)
        /// A refresh is in progress. The waiter was added to its waiters.
        case wait
        /// Refresh this credential and report the result with this number. The waiter was added to its waiters.
        case refresh(Credential, number: Int)
    }

    private(set) var credential: Credential?
    /// The number of times the credential was replaced.
    private(set) var version = 0
    /// The callers that wait for the refresh in progress; nil if none is in progress.
    private var waiters: [Waiter]?
    /// The number of refreshes started so far.
    private var number = 0
    /// The start times of recent refreshes.
    private var refreshes: [TimeInterval] = []
    /// The error of the last failed refresh of this credential, and its time.
    private var failure: (error: any Error, time: TimeInterval)?
    private let interval: TimeInterval
    private let maximumAttempts: Int

    /// - Parameters:
    ///   - interval: The length of the refresh window, in seconds.
    ///   - maximumAttempts: The maximum number of refreshes in the window.
    init(credential: Credential?, interval: TimeInterval, maximumAttempts: Int) {
        self.credential = credential
        self.interval = interval
        self.maximumAttempts = maximumAttempts
    }

    /// Returns the next step for a caller that needs a credential.
    ///
    /// - Parameters:
    ///   - stale: The version of the credential that is no longer usable; nil if none is known to be.
    ///   - began: The time at which the caller's work began. If a refresh failed after that, the caller fails with the same
    ///     error.
    mutating func next(
        insteadOf stale: Int?, began: TimeInterval?, now: TimeInterval, _ waiter: @escaping Waiter
    ) -> Next {
        if waiters != nil {
            waiters?.append(waiter)
            return .wait
        }
        guard let credential else { return .fail(AuthenticationError.missingCredential) }
        guard stale == version else { return .use(credential) }
        if let failure, let began, began <= failure.time { return .fail(failure.error) }
        let horizon = now - interval
        refreshes.removeAll { $0 <= horizon }
        guard refreshes.count < maximumAttempts else { return .fail(AuthenticationError.excessiveRefresh) }
        refreshes.append(now)
        waiters = [waiter]
        number += 1
        return .refresh(credential, number: number)
    }

    /// Ends a refresh and returns the waiters to call. Returns none if the credential was replaced in the meantime, or if this
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

    /// Replaces the credential and returns the waiters to call with it.
    mutating func replace(with credential: Credential?) -> [Waiter] {
        self.credential = credential
        version += 1
        failure = nil
        return takeWaiters()
    }

    private mutating func takeWaiters() -> [Waiter] { waiters.take() ?? [] }
}

/// An ``AuthenticationInterceptor``'s record for one request. It doesn't include retries by other interceptors.
struct AuthenticationRecord {
    /// The time at which the request began, or last received the result of a refresh.
    var began: TimeInterval
    /// The latest version of the credential with which the interceptor retried the request.
    var version: Int?
}
