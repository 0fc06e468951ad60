public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A retrier for transient failures. It retries idempotent requests after certain status codes and network errors, up to a limit
/// and with increasing delays.
///
/// A status code fails a request only if the request is validated. An upload from a stream, or a `URLRequest` with a body
/// stream, isn't retried after the stream was read. Such a request fails with its original error.
open class RetryPolicy: RequestInterceptor, @unchecked Sendable {
    // Sendable: nothing changes after init.

    /// The maximum number of retries of a request.
    public let retryLimit: UInt
    /// The ratio of each delay to the previous one, at least 2.
    public let exponentialBackoffBase: UInt
    /// The first delay, in seconds.
    public let exponentialBackoffScale: Double
    /// The methods of the requests that are retried.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The status codes after which requests are retried.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The network errors after which requests are retried.
    public let retryableURLErrorCodes: Set<URLError.Code>
    /// The variation of the delays.
    public private(set) final var jitter: Jitter
    /// The longest `Retry-After` to wait for, in seconds, or nil if the header is ignored.
    public private(set) final var maximumRetryAfter: TimeInterval?

    /// Creates a policy that has exact delays and ignores `Retry-After`.
    ///
    /// The delay before retry n, counted from 0, is `exponentialBackoffScale * pow(exponentialBackoffBase, n)` seconds; by
    /// default 0.5 and 1 second.
    ///
    /// - Parameters:
    ///   - retryLimit: The maximum number of retries of a request. The default is 2.
    ///   - exponentialBackoffBase: The ratio of each delay to the previous one. The default and minimum is 2.
    ///   - exponentialBackoffScale: The first delay, in seconds. The default is 0.5.
    ///   - retryableHTTPMethods: The methods of the requests that are retried. The default is ``defaultRetryableHTTPMethods``.
    ///   - retryableHTTPStatusCodes: The status codes after which requests are retried. The default is
    ///     ``defaultRetryableHTTPStatusCodes``.
    ///   - retryableURLErrorCodes: The network errors after which requests are retried. The default is
    ///     ``defaultRetryableURLErrorCodes``.
    public init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) {
        self.retryLimit = retryLimit
        self.exponentialBackoffBase = max(2, exponentialBackoffBase)
        self.exponentialBackoffScale = exponentialBackoffScale
        self.retryableHTTPMethods = retryableHTTPMethods
        self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
        self.retryableURLErrorCodes = retryableURLErrorCodes
        jitter = .none
        maximumRetryAfter = nil
    }

    /// Creates a policy that can vary its delays and respect `Retry-After`.
    ///
    /// The delay before retry n, counted from 0, is `exponentialBackoffScale * pow(exponentialBackoffBase, n)` seconds, varied
    /// by `jitter`. A subclass that overrides the initializer without `jitter` inherits this initializer.
    ///
    /// - `jitter`: The variation of the delays. The default is ``Jitter/none``.
    /// - `maximumRetryAfter`: The longest `Retry-After` (RFC 9110, section 10.2.3) to wait for after a status code, in seconds.
    ///   The policy waits for the longer of `Retry-After` and its own delay. If the server requests a longer wait than this,
    ///   the request isn't retried. If this value isn't nil, status 429 is retried too. The default is nil: the header is
    ///   ignored.
    @_disfavoredOverload
    public convenience init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes,
        jitter: Jitter = .none,
        maximumRetryAfter: TimeInterval? = nil
    ) {
        self.init(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: maximumRetryAfter == nil
                ? retryableHTTPStatusCodes : retryableHTTPStatusCodes.union([429]),
            retryableURLErrorCodes: retryableURLErrorCodes)
        self.jitter = jitter
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// Decides to retry after a delay, or not to retry.
    @preconcurrency
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.retryCount < retryLimit, shouldRetry(request: request, dueTo: error), !request.isBodyConsumed,
            let delay = delay(before: request, now: session.configuration.timeSource.now)
        else { return completion(.doNotRetry) }
        completion(.retryWithDelay(delay))
    }

    /// Returns whether this failure can be retried, regardless of the number of retries so far. A request that was refused by its
    /// ``ConnectionPolicy`` can't be retried.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        guard error.asAFError?.transportError?.code != .refusedByPolicy else { return false }
        if hasRetryableStatus(request) { return true }
        let cause = error as? URLError ?? error.asAFError?.underlyingError as? URLError
        return cause.map { retryableURLErrorCodes.contains($0.code) } ?? false
    }

    private func hasRetryableStatus(_ request: Request) -> Bool {
        request.responseHead.map { retryableHTTPStatusCodes.contains($0.status) } ?? false
    }

    /// Returns the delay before the next retry, or nil if it would be too long.
    private func delay(before request: Request, now: Date) -> TimeInterval? {
        let growth = pow(Double(exponentialBackoffBase), Double(request.retryCount))
        let delay = jitter.vary(growth * exponentialBackoffScale)
        guard let maximumRetryAfter, hasRetryableStatus(request),
            let requestedDelay = request.responseHead?.retryAfter(now: now)
        else { return delay }
        return requestedDelay > maximumRetryAfter ? nil : max(delay, requestedDelay)
    }
}

extension RetryPolicy {
    /// The default maximum number of retries of a request: 2.
    public static let defaultRetryLimit: UInt = 2

    /// The default ratio of each delay to the previous one: 2.
    public static let defaultExponentialBackoffBase: UInt = 2

    /// The default first delay: 0.5 seconds.
    public static let defaultExponentialBackoffScale = 0.5

    /// The idempotent methods (RFC 9110, section 9.2.2).
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]

    /// The status codes of transient failures (RFC 9110, sections 15.5.9 and 15.6): 408, 500, 502, 503, 504.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]

    /// The network errors that can be transient. These are failed DNS lookups, failed connections, timeouts, restrictions of
    /// mobile networks, certificates outside their validity period, and malformed responses.
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected,
        .badServerResponse,
        .callIsActive, .dataNotAllowed, .internationalRoamingOff,
        .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed,
        .cannotLoadFromNetwork,
        .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .networkConnectionLost, .notConnectedToInternet,
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
        .timedOut,
    ]
}

extension RetryPolicy {
    /// The variation of the delays before retries. It prevents clients that failed at the same time from retrying at the same
    /// time.
    public struct Jitter: Sendable {
        let vary: @Sendable (TimeInterval) -> TimeInterval

        /// Creates a custom variation.
        ///
        /// - Parameter vary: Receives the computed delay and returns the delay to use, both in seconds. Called on an unspecified
        ///   thread.
        @preconcurrency
        public init(_ vary: @escaping @Sendable (_ delay: TimeInterval) -> TimeInterval) {
            self.vary = vary
        }

        /// Doesn't vary the delays.
        public static let none = Jitter { $0 }
        /// Uses a random delay between 0 and the computed delay.
        public static let full = Jitter { $0 > 0 ? .random(in: 0...min($0, .greatestFiniteMagnitude)) : 0 }
    }
}

/// A policy that retries only idempotent requests whose connection was lost.
open class ConnectionLostRetryPolicy: RetryPolicy, @unchecked Sendable {
    // Sendable: adds no state.

    /// Creates a policy. See ``RetryPolicy`` for the parameters.
    public init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) {
        super.init(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: [], retryableURLErrorCodes: [.networkConnectionLost])
    }
}

extension ResponseHead {
    /// The number of seconds that the server requests to wait, in `Retry-After` (RFC 9110, section 10.2.3). Nil if the header is
    /// missing or invalid.
    ///
    /// A date in the header is compared with the response's `Date`, if the response has one. Incorrect clocks then have no effect.
    public func retryAfter(now: Date) -> TimeInterval? {
        guard let text = value(for: .retryAfter) else { return nil }
        if text.wholeMatch(of: /[0-9]+/) != nil { return TimeInterval(text) }
        guard let date = HTTPDate.parse(text) else { return nil }
        let now = value(for: .date).flatMap(HTTPDate.parse).map(TimeInterval.init) ?? now.timeIntervalSince1970
        return max(0, TimeInterval(date) - now)
    }
}

extension RequestRetrier where Self == RetryPolicy {
    /// The default policy. See
    /// ``RetryPolicy/init(retryLimit:exponentialBackoffBase:exponentialBackoffScale:retryableHTTPMethods:retryableHTTPStatusCodes:retryableURLErrorCodes:)``.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// Returns a policy that has exact delays and ignores `Retry-After`.
    public static func retryPolicy(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) -> RetryPolicy {
        RetryPolicy(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes, retryableURLErrorCodes: retryableURLErrorCodes)
    }

    /// Returns a policy for servers under load. It randomizes its delays, waits as long as `Retry-After` specifies, and also
    /// retries status 429.
    ///
    /// - `maximumRetryAfter`: The longest `Retry-After` to wait for, in seconds. If the server requests a longer wait, the
    ///   request fails with its original error.
    /// - `jitter`: The variation of the delays. The default is ``RetryPolicy/Jitter/full``.
    public static func retryPolicy(
        respectingRetryAfterUpTo maximumRetryAfter: TimeInterval,
        jitter: RetryPolicy.Jitter = .full,
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) -> RetryPolicy {
        RetryPolicy(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes, retryableURLErrorCodes: retryableURLErrorCodes,
            jitter: jitter, maximumRetryAfter: maximumRetryAfter)
    }
}

extension RequestRetrier where Self == ConnectionLostRetryPolicy {
    /// The default policy for lost connections.
    public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

    /// Returns a policy for lost connections.
    public static func connectionLostRetryPolicy(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods
    ) -> ConnectionLostRetryPolicy {
        ConnectionLostRetryPolicy(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods)
    }
}
