import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A limit for the retries to a host, so that retries don't multiply the load on a server that fails.
///
/// Each host has a bucket of tokens, which is full at first. A retry takes tokens, and each successful response adds some. If the bucket
/// has too few tokens, the request isn't retried and fails with its original error.
public struct RetryBudget: Sendable, Hashable {
    /// The maximum and the initial number of tokens. The default is 100.
    public var capacity: Double
    /// The number of tokens that a retry takes. The default is 1.
    public var retryCost: Double
    /// The number of tokens that a retry after a timeout takes. The default is 1.
    public var timeoutCost: Double
    /// The number of tokens that a failed call takes, whether it is retried or not. The default is 0.
    public var failureCost: Double
    /// The number of tokens at which retries stop. The default is 0: all tokens can be used.
    public var reserve: Double
    /// The number of tokens that each successful response adds. The default is 0.1: in the long term, 10 % of the requests can be retries.
    public var refillPerSuccess: Double
    /// The number of tokens that are added each second, so that hosts with few requests also regain tokens. The default is 1.
    public var refillPerSecond: Double

    /// Creates a budget. Negative numbers are treated as 0.
    public init(
        capacity: Double = 100, retryCost: Double = 1, timeoutCost: Double = 1, failureCost: Double = 0,
        reserve: Double = 0, refillPerSuccess: Double = 0.1, refillPerSecond: Double = 1
    ) {
        self.capacity = capacity
        self.retryCost = retryCost
        self.timeoutCost = timeoutCost
        self.failureCost = failureCost
        self.reserve = reserve
        self.refillPerSuccess = refillPerSuccess
        self.refillPerSecond = refillPerSecond
    }

    /// A budget like the quota of the AWS SDKs: 500 tokens, 5 for a retry, 10 for a retry after a timeout, and 1 added by each success.
    /// After a long failure, a host must first succeed before requests to it are retried again. The SDKs also return the cost of a retry
    /// that succeeds.
    public static let quota = RetryBudget(
        capacity: 500, retryCost: 5, timeoutCost: 10, refillPerSuccess: 1, refillPerSecond: 0)

    /// The budget of gRPC's clients: 10 tokens, 1 for each failure, and 0.1 added by each success. Requests are retried while there are
    /// more than 5 tokens, so the first failures of an outage stop the retries, even if none of them was retried.
    public static let throttling = RetryBudget(
        capacity: 10, retryCost: 0, timeoutCost: 0, failureCost: 1, reserve: 5, refillPerSuccess: 0.1,
        refillPerSecond: 0)
}

/// A bucket of tokens that successes and time refill.
struct TokenBucket: Sendable {
    private let capacity: Double
    private let refillPerSecond: Double
    private var tokens: Double
    private var lastRefill: Duration

    init(capacity: Double, refillPerSecond: Double = 0, tokens: Double = .infinity, at now: Duration) {
        self.capacity = max(0, capacity)
        self.refillPerSecond = max(0, refillPerSecond)
        self.tokens = min(self.capacity, tokens)
        lastRefill = now
    }

    func count(at now: Duration) -> Double {
        min(capacity, tokens + max(0, (now - lastRefill) / .seconds(1)) * refillPerSecond)
    }

    mutating func add(_ count: Double, at now: Duration) {
        tokens = min(capacity, self.count(at: now) + max(0, count))
        lastRefill = max(lastRefill, now)
    }

    /// Takes tokens. If the bucket has fewer tokens than the cost, or no more than the reserve, it takes none and returns false.
    mutating func take(_ cost: Double, reserve: Double = 0, at now: Duration) -> Bool {
        add(0, at: now)
        // Many small additions don't add up exactly.
        guard tokens >= cost - 1e-9, reserve <= 0 || tokens > reserve + 1e-9 else { return false }
        remove(cost, at: now)
        return true
    }

    /// Takes tokens, or all if the bucket has too few.
    mutating func remove(_ count: Double, at now: Duration) {
        add(0, at: now)
        tokens = max(0, tokens - max(0, count))
    }
}

// MARK: - Interceptor

/// Limits the retries of another retrier, and sets the deadline of requests.
final class BudgetedRetrier: RequestInterceptor {
    private let hosts: Hosts
    private let retrier: (any RequestRetrier)?
    private let deadline: TimeInterval?

    init(_ retrier: (any RequestRetrier)?, hosts: Hosts, deadline: TimeInterval? = nil) {
        (self.retrier, self.hosts, self.deadline) = (retrier, hosts, deadline)
    }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        guard let adapter = retrier as? any RequestAdapter else { return completion(.success(urlRequest)) }
        adapter.adapt(urlRequest, for: session, completion: completion)
    }

    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        // Streams, downloads and WebSockets can take any amount of time.
        if let deadline, let request = state.request as? DataRequest, request.options.deadline == nil {
            request.options { $0.deadline = $0.deadline ?? deadline }
        }
        guard let adapter = retrier as? any RequestAdapter else { return completion(.success(urlRequest)) }
        adapter.adapt(urlRequest, using: state, completion: completion)
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard let retrier else { return completion(.doNotRetry) }
        let failure = (error as? AFError)?.transportError
        let url = request.responseHead?.url ?? failure?.url ?? request.request?.url?.absoluteString ?? ""
        let now = session.configuration.timeSource.uptime
        retrier.retry(request, for: session, dueTo: error) { [hosts] result in
            let delay: TimeInterval
            switch result {
            case .retry: delay = 0
            case .retryWithDelay(let seconds): delay = seconds
            case .doNotRetry, .doNotRetryWithError: return completion(result)
            }
            let isPermitted = hosts.takeRetry(
                for: hosts.key(ofURL: url), afterTimeout: failure?.code == .timedOut,
                delay: .seconds(min(max(delay, 0), 1e9)), at: now)
            completion(isPermitted ? result : .doNotRetry)
        }
    }
}
