public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends no more requests a second to a host than that wants (a token bucket), and waits where a host asks for that.
///
/// ```swift
/// let session = Session(interceptor: RateLimiter(requestsPerSecond: 10, burst: 20))
/// ```
///
/// Requests wait in the order in which they were started. One that is cancelled while it waits takes nothing from the others.
/// When one has failed, by `validate()`, with the status 429 or 503
/// and a `Retry-After` (RFC 9110, section 10.2.3), all that are still to be sent to its host wait so long, and it is sent
/// again after them. All methods may be called from any thread.
public final class RateLimiter: RequestInterceptor {
    private static let hostLimit = 1_000
    private static let leastRate = 1e-6

    private let rate: Double
    private let burst: Double
    private let maximumRetryAfter: TimeInterval
    private let retryLimit: Int
    private let queues = Locked<[String: HostQueue]>([:])

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: How many requests a second a host gets, each attempt counted. At least one in a million seconds.
    ///   - burst: How many it may get at once, after a time of rest. The default is 1.
    ///   - maximumRetryAfter: The longest time, in seconds, that a host may ask to wait. When it asks for more, the request fails
    ///     as it would without a limiter. The default is 60.
    ///   - retryLimit: How often a request is sent again. The default is 2.
    public init(
        requestsPerSecond: Double, burst: Int = 1, maximumRetryAfter: TimeInterval = 60, retryLimit: Int = 2
    ) {
        rate = requestsPerSecond > Self.leastRate ? requestsPerSecond : Self.leastRate
        self.burst = Double(max(1, burst))
        self.maximumRetryAfter = maximumRetryAfter
        self.retryLimit = retryLimit
    }

    /// Completes when it is the request's turn.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        wait(HostQueue.Waiter(isWanted: { true }, resume: { completion(.success(urlRequest)) }), urlRequest)
    }

    /// Completes when it is the request's turn, unless the request was cancelled before.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        guard let request = state.request else {
            return adapt(urlRequest, for: state.session, completion: completion)
        }
        let waiter = HostQueue.Waiter(
            isWanted: { [weak request] in request.map { !$0.isCancelled && !$0.isFinished } ?? false },
            resume: { completion(.success(urlRequest)) })
        wait(waiter, urlRequest)
    }

    private func wait(_ waiter: HostQueue.Waiter, _ urlRequest: URLRequest) {
        let host = Self.host(of: urlRequest.url)
        switch withQueue(of: host, { $0.add(waiter, at: $1) }) {
        case .waits: break
        case .mayGo: waiter.resume()
        case .isFirst: Task { await resumeWaiters(of: host) }
        }
    }

    /// Resumes the waiters of a host at the limited rate, until the queue is empty.
    private func resumeWaiters(of host: String) async {
        while let delay = withQueue(of: host, { $0.delay(at: $1) }) {
            guard delay == 0 else {
                try? await Task.sleep(for: Duration(timeout: delay))
                continue
            }
            // Requests have locks of their own.
            guard let next = withQueue(of: host, { queue, _ in queue.next() }), next.isWanted() else { continue }
            withQueue(of: host) { queue, _ in queue.bucket.take() }
            next.resume()
        }
    }

    /// Has a request sent again whose host asks to wait.
    @preconcurrency
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let head = request.responseHead, head.status == 429 || head.status == 503, let delay = head.retryAfter,
            delay <= maximumRetryAfter
        else { return completion(.doNotRetry) }
        withQueue(of: Self.host(of: request.request?.url)) { $0.bucket.pause(for: delay, at: $1) }
        // The adapter lets it wait.
        completion(request.retryCount < retryLimit ? .retry : .doNotRetry)
    }

    private static func host(of url: URL?) -> String { url?.host?.lowercased() ?? "" }

    private func withQueue<Answer>(
        of host: String, _ body: (inout HostQueue, _ now: TimeInterval) -> Answer
    ) -> Answer {
        let now = ProcessInfo.processInfo.systemUptime
        return queues.withLock { queues in
            if queues.count >= Self.hostLimit { queues = queues.filter { !$0.value.isIdle(at: now) } }
            return body(
                &queues[host, default: HostQueue(bucket: TokenBucket(rate: rate, capacity: burst, at: now))], now)
        }
    }
}

/// The requests to one host: a pure value.
private struct HostQueue {
    struct Waiter: Sendable {
        /// Returns false if the request has ended.
        let isWanted: @Sendable () -> Bool
        let resume: @Sendable () -> Void
    }

    enum Turn {
        case mayGo
        /// The caller must resume the waiters of the queue.
        case isFirst
        case waits
    }

    var bucket: TokenBucket
    private var waiters: [Waiter] = []
    private var start = 0
    private var isRunning = false

    init(bucket: TokenBucket) { self.bucket = bucket }

    func isIdle(at now: TimeInterval) -> Bool { !isRunning && bucket.isFull(at: now) }

    mutating func add(_ waiter: Waiter, at now: TimeInterval) -> Turn {
        if !isRunning, bucket.delay(at: now) == 0 {
            bucket.take()
            return .mayGo
        }
        waiters.append(waiter)
        defer { isRunning = true }
        return isRunning ? .waits : .isFirst
    }

    /// The seconds until the next waiter's turn; nil when none waits, which ends the run.
    mutating func delay(at now: TimeInterval) -> TimeInterval? {
        isRunning = start < waiters.count
        return isRunning ? bucket.delay(at: now) : nil
    }

    mutating func next() -> Waiter? {
        guard start < waiters.count else { return nil }
        defer {
            start += 1
            if start == waiters.count { (waiters, start) = ([], 0) }
        }
        return waiters[start]
    }
}

/// A token bucket: a pure value that limits how often something may be done.
struct TokenBucket {
    private let rate: Double
    private let capacity: Double
    private var tokens: Double
    private var time: TimeInterval
    /// Before this moment nothing is allowed.
    private var end: TimeInterval = 0

    /// Makes up for what is lost in sums of fractions.
    private static let wholeToken = 1 - 1e-9

    /// - Parameters:
    ///   - rate: How many a second.
    ///   - capacity: How many at once, after a time of rest.
    init(rate: Double, capacity: Double, at time: TimeInterval) {
        (self.rate, self.capacity, self.time) = (rate, capacity, time)
        tokens = capacity
    }

    /// Whether nothing was taken for so long that a new bucket would be the same.
    func isFull(at now: TimeInterval) -> Bool { now >= end && tokens + (now - time) * rate >= capacity }

    /// The seconds until a token can be taken; 0 if one can be taken now.
    mutating func delay(at now: TimeInterval) -> TimeInterval {
        guard now >= end else { return end - now }
        tokens = min(capacity, tokens + max(0, now - time) * rate)
        time = max(time, now)
        return tokens >= Self.wholeToken ? 0 : (1 - tokens) / rate
    }

    /// Takes a token. ``delay(at:)`` must be 0.
    mutating func take() { tokens -= 1 }

    /// Nothing is allowed for so many seconds, and from then on one after the other.
    mutating func pause(for duration: TimeInterval, at now: TimeInterval) {
        guard now + duration > end else { return }
        (end, time) = (now + duration, now + duration)
        tokens = min(tokens, 1)
    }
}
