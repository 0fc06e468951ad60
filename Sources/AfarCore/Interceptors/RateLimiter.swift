public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An interceptor that limits the rate of requests to each host (a token bucket) and respects `Retry-After`.
///
/// ```swift
/// let session = Session(interceptor: RateLimiter(requestsPerSecond: 10, burst: 20))
/// ```
///
/// Requests wait in the order in which they start. A request that is canceled while it waits doesn't use a token. If `validate()`
/// rejects a response with status 429 or 503 and a `Retry-After` (RFC 9110, section 10.2.3), all further requests to that host
/// wait for that time. The failed request is then retried, after the requests that were already waiting. You can call all methods
/// from any thread.
public final class RateLimiter: RequestInterceptor {
    private static let hostLimit = 1_000
    private static let minimumRate = 1e-6

    private let rate: Double
    private let burst: Double
    private let maximumRetryAfter: TimeInterval
    private let retryLimit: Int
    private let queues = Locked<[String: HostQueue]>([:])

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: The maximum number of requests per second to a host, counting each attempt. The minimum is one
    ///     request per million seconds.
    ///   - burst: The maximum number of requests at once, after an idle period. The default is 1.
    ///   - maximumRetryAfter: The longest `Retry-After` to wait for, in seconds. If a server requests a longer wait, the request
    ///     fails as it would without a limiter. The default is 60.
    ///   - retryLimit: The maximum number of retries of a request. The default is 2.
    public init(
        requestsPerSecond: Double, burst: Int = 1, maximumRetryAfter: TimeInterval = 60, retryLimit: Int = 2
    ) {
        rate = requestsPerSecond > Self.minimumRate ? requestsPerSecond : Self.minimumRate
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
        let waiter = HostQueue.Waiter(isActive: { true }, resume: { completion(.success(urlRequest)) })
        wait(waiter, urlRequest, session.configuration.timeSource)
    }

    /// Completes when it is the request's turn, unless the request is canceled first.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        guard let request = state.request else {
            return adapt(urlRequest, for: state.session, completion: completion)
        }
        let waiter = HostQueue.Waiter(
            isActive: { [weak request] in request.map { !$0.isCancelled && !$0.isFinished } ?? false },
            resume: { completion(.success(urlRequest)) })
        wait(waiter, urlRequest, state.session.configuration.timeSource)
    }

    private func wait(_ waiter: HostQueue.Waiter, _ urlRequest: URLRequest, _ time: TimeSource) {
        let host = Self.host(of: urlRequest.url)
        switch withQueue(of: host, time, { $0.add(waiter, at: $1) }) {
        case .wait: break
        case .proceed: waiter.resume()
        case .resumeWaiters: Task { await resumeWaiters(of: host, time) }
        }
    }

    /// Resumes the waiters of a host at the limited rate, until the queue is empty.
    private func resumeWaiters(of host: String, _ time: TimeSource) async {
        while let delay = withQueue(of: host, time, { $0.delay(at: $1) }) {
            guard delay == 0 else {
                await time.pause(for: Duration(timeout: delay))
                continue
            }
            // Check and resume requests outside the lock, because requests have their own locks.
            guard let next = withQueue(of: host, time, { queue, _ in queue.next() }), next.isActive() else { continue }
            withQueue(of: host, time) { queue, _ in queue.bucket.take() }
            next.resume()
        }
    }

    /// Retries a request if its host requested a wait.
    @preconcurrency
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let time = session.configuration.timeSource
        guard let head = request.responseHead, head.status == 429 || head.status == 503,
            let delay = head.retryAfter(now: time.now), delay <= maximumRetryAfter
        else { return completion(.doNotRetry) }
        withQueue(of: Self.host(of: request.request?.url), time) { $0.bucket.pause(for: delay, at: $1) }
        // The adapter delays the retry.
        completion(request.retryCount < retryLimit ? .retry : .doNotRetry)
    }

    private static func host(of url: URL?) -> String { url?.host?.lowercased() ?? "" }

    private func withQueue<Answer>(
        of host: String, _ time: TimeSource, _ body: (inout HostQueue, _ now: TimeInterval) -> Answer
    ) -> Answer {
        let now = time.uptime / .seconds(1)
        return queues.withLock { queues in
            if queues.count >= Self.hostLimit { queues = queues.filter { !$0.value.isIdle(at: now) } }
            return body(
                &queues[host, default: HostQueue(bucket: TokenBucket(rate: rate, capacity: burst, at: now))], now)
        }
    }
}

/// The queue of the requests that wait for one host. It performs no I/O.
private struct HostQueue {
    struct Waiter: Sendable {
        /// Returns false if the request has ended.
        let isActive: @Sendable () -> Bool
        let resume: @Sendable () -> Void
    }

    enum Turn {
        case proceed
        /// The request is the first one in the queue. The caller must resume the waiters.
        case resumeWaiters
        case wait
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
            return .proceed
        }
        waiters.append(waiter)
        defer { isRunning = true }
        return isRunning ? .wait : .resumeWaiters
    }

    /// Returns the number of seconds until the next waiter's turn. If none is waiting, marks the queue as not running and returns
    /// nil.
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

/// A token bucket that limits the rate of an action. It performs no I/O.
struct TokenBucket {
    private let rate: Double
    private let capacity: Double
    private var tokens: Double
    private var time: TimeInterval
    /// The time before which no tokens are available.
    private var end: TimeInterval = 0

    /// Slightly less than 1, to allow for rounding errors.
    private static let wholeToken = 1 - 1e-9

    init(rate: Double, capacity: Double, at time: TimeInterval) {
        (self.rate, self.capacity, self.time) = (rate, capacity, time)
        tokens = capacity
    }

    /// Returns whether the bucket is full and therefore equivalent to a new one.
    func isFull(at now: TimeInterval) -> Bool { now >= end && tokens + (now - time) * rate >= capacity }

    /// Returns the number of seconds until a token is available, or 0 if one is available now.
    mutating func delay(at now: TimeInterval) -> TimeInterval {
        guard now >= end else { return end - now }
        tokens = min(capacity, tokens + max(0, now - time) * rate)
        time = max(time, now)
        return tokens >= Self.wholeToken ? 0 : (1 - tokens) / rate
    }

    /// Takes a token. ``delay(at:)`` must be 0.
    mutating func take() { tokens -= 1 }

    /// Makes tokens unavailable for a number of seconds. After that, at most one token is available immediately.
    mutating func pause(for duration: TimeInterval, at now: TimeInterval) {
        guard now + duration > end else { return }
        (end, time) = (now + duration, now + duration)
        tokens = min(tokens, 1)
    }
}
