import Foundation

/// The credential of an ``AuthenticationInterceptor``, who waits for a new one, and what became of earlier refreshes: a pure
/// value.
struct CredentialState<Credential: Sendable> {
    /// Called with the result of a refresh.
    typealias Waiter = @Sendable (Result<Credential, any Error>) -> Void

    /// What somebody is to do who needs a credential.
    enum Next {
        case use(Credential)
        case fail(any Error)
        /// Wait: the waiter was kept, and somebody is refreshing.
        case wait
        /// Refresh this credential, and hand in the result under this number. The waiter was kept.
        case refresh(Credential, number: Int)
    }

    private(set) var credential: Credential?
    /// How often the credential was replaced.
    private(set) var version = 0
    /// Those who wait for the refresh that is under way; nil when none is.
    private var waiters: [Waiter]?
    /// How many refreshes were begun.
    private var number = 0
    /// When the refreshes of late began.
    private var refreshes: [TimeInterval] = []
    /// What the last refresh of this credential failed with, and when.
    private var failure: (error: any Error, time: TimeInterval)?
    private let interval: TimeInterval
    private let maximumAttempts: Int

    /// - Parameters:
    ///   - interval: How long a refresh counts, in seconds.
    ///   - maximumAttempts: How many may count at once.
    init(credential: Credential?, interval: TimeInterval, maximumAttempts: Int) {
        self.credential = credential
        self.interval = interval
        self.maximumAttempts = maximumAttempts
    }

    /// Somebody needs a credential.
    ///
    /// - Parameters:
    ///   - stale: The version of the credential that will not do; nil if none is known.
    ///   - began: When the work began that needs it. What a refresh after that failed with is its failure too.
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

    /// A refresh is over. Returns those to be called; nobody when the credential was replaced meanwhile, or when this
    /// refresh was over before.
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

    /// Sets another credential, which those that wait are to be called with.
    mutating func replace(with credential: Credential?) -> [Waiter] {
        self.credential = credential
        version += 1
        failure = nil
        return takeWaiters()
    }

    private mutating func takeWaiters() -> [Waiter] { waiters.take() ?? [] }
}

/// What an ``AuthenticationInterceptor`` has done for a request. The retries that others ask for leave no trace here.
struct AuthenticationRecord {
    /// When the request began, or last got the result of a refresh.
    var began: TimeInterval
    /// The latest version of the credential with which the interceptor had the request retried.
    var version: Int?
}
