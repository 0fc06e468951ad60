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
/// Requests wait in the order in which they were started. When one has failed, by `validate()`, with the status 429 or 503
/// and a `Retry-After` (RFC 9110, section 10.2.3), all that are still to be sent to its host wait so long, and it is sent
/// again after them. All methods may be called from any thread.
public final class RateLimiter: RequestInterceptor {
    private static let hostLimit = 1_000
    private static let leastRate = 1e-6

    private let rate: Double
    private let burst: Double
    private let maximumRetryAfter: TimeInterval
    private let retryLimit: Int
    private let buckets = Locked<[String: TokenBucket]>([:])

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
        let (delay, known) = withBucket(of: urlRequest.url) { ($0.take(at: $1), $0.delay) }
        guard delay > 0 else { return completion(.success(urlRequest)) }
        Task {
            var (delay, known) = (delay, known)
            // The host may have asked to wait meanwhile.
            while delay > 0 {
                try? await Task.sleep(for: Duration(timeout: delay))
                let now = withBucket(of: urlRequest.url) { bucket, _ in bucket.delay }
                (delay, known) = (now - known, now)
            }
            completion(.success(urlRequest))
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
        withBucket(of: request.request?.url) { $0.pause(for: delay, at: $1) }
        // The adapter lets it wait.
        completion(request.retryCount < retryLimit ? .retry : .doNotRetry)
    }

    private func withBucket<Answer>(
        of url: URL?, _ body: (inout TokenBucket, _ now: TimeInterval) -> Answer
    ) -> Answer {
        let now = ProcessInfo.processInfo.systemUptime
        let host = url?.host?.lowercased() ?? ""
        return buckets.withLock { buckets in
            if buckets.count >= Self.hostLimit { buckets = buckets.filter { !$0.value.isFull(at: now) } }
            return body(&buckets[host, default: TokenBucket(rate: rate, capacity: burst, at: now)], now)
        }
    }
}
