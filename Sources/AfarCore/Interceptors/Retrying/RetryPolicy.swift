public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Retries transient failures: idempotent requests that failed with certain status codes or network errors,
/// a few times, and after delays that grow.
///
/// A status code fails a request only when it is validated. An upload whose stream was read already, and a `URLRequest`
/// whose body stream was, are not retried: they fail with what they failed with.
open class RetryPolicy: RequestInterceptor, @unchecked Sendable {
    // Sendable because nothing changes after init.

    /// How often a request is retried at most.
    public let retryLimit: UInt
    /// The factor by which each delay is longer than the one before, at least 2.
    public let exponentialBackoffBase: UInt
    /// The first delay, in seconds.
    public let exponentialBackoffScale: Double
    /// The methods of the requests that are retried.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The status codes after which they are retried.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The network errors after which they are retried.
    public let retryableURLErrorCodes: Set<URLError.Code>
    /// How the delays vary.
    public private(set) final var jitter: Jitter
    /// The longest `Retry-After` that is waited for, in seconds; nil when no attention is paid to that header.
    public private(set) final var maximumRetryAfter: TimeInterval?

    /// Makes a policy with exact delays that pays no attention to `Retry-After`.
    ///
    /// The delay before retry n, counted from 0, is `exponentialBackoffScale * pow(exponentialBackoffBase, n)` seconds; by
    /// default 0.5 and 1 second.
    ///
    /// - Parameters:
    ///   - retryLimit: How often a request is retried at most. The default is 2.
    ///   - exponentialBackoffBase: The factor by which each delay is longer than the one before. The default is 2; less is
    ///     taken for 2.
    ///   - exponentialBackoffScale: The first delay, in seconds. The default is 0.5.
    ///   - retryableHTTPMethods: The methods of the requests that are retried. The default is
    ///     ``defaultRetryableHTTPMethods``.
    ///   - retryableHTTPStatusCodes: The status codes after which they are retried. The default is
    ///     ``defaultRetryableHTTPStatusCodes``.
    ///   - retryableURLErrorCodes: The network errors after which they are retried. The default is
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

    /// Makes a policy whose delays vary, or that waits as long as `Retry-After` says.
    ///
    /// The delay before retry n, counted from 0, is `exponentialBackoffScale * pow(exponentialBackoffBase, n)` seconds,
    /// varied by `jitter`. A subclass that overrides the initializer without `jitter` has this one too.
    ///
    /// - Parameters:
    ///   - retryLimit: How often a request is retried at most. The default is 2.
    ///   - exponentialBackoffBase: The factor by which each delay is longer than the one before. The default is 2; less is
    ///     taken for 2.
    ///   - exponentialBackoffScale: The first delay, in seconds. The default is 0.5.
    ///   - retryableHTTPMethods: The methods of the requests that are retried. The default is
    ///     ``defaultRetryableHTTPMethods``.
    ///   - retryableHTTPStatusCodes: The status codes after which they are retried. The default is
    ///     ``defaultRetryableHTTPStatusCodes``.
    ///   - retryableURLErrorCodes: The network errors after which they are retried. The default is
    ///     ``defaultRetryableURLErrorCodes``.
    ///   - jitter: How the delays vary. The default is ``Jitter/none``.
    ///   - maximumRetryAfter: The longest `Retry-After` (RFC 9110, section 10.2.3) to wait for after a status code, in
    ///     seconds. The longer of that and the policy's own delay counts; when the server asks for more than this, the
    ///     request is not retried. With it, status 429 is retried too. The default is nil: no attention is paid to
    ///     that header.
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

    /// Retries after a delay, or does not.
    @preconcurrency
    open func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.retryCount < retryLimit, shouldRetry(request: request, dueTo: error), !request.hasSpentItsBody,
            let delay = delay(before: request)
        else { return completion(.doNotRetry) }
        completion(.retryWithDelay(delay))
    }

    /// Whether a failure is one after which a retry makes sense, whatever the number of retries so far.
    ///
    /// - Parameters:
    ///   - request: The request that failed.
    ///   - error: Why it failed.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else { return false }
        if hasRetryableStatus(request) { return true }
        let cause = error as? URLError ?? error.asAFError?.underlyingError as? URLError
        return cause.map { retryableURLErrorCodes.contains($0.code) } ?? false
    }

    private func hasRetryableStatus(_ request: Request) -> Bool {
        request.responseHead.map { retryableHTTPStatusCodes.contains($0.status) } ?? false
    }

    /// How long to wait, nil when that is too long.
    private func delay(before request: Request) -> TimeInterval? {
        let growth = pow(Double(exponentialBackoffBase), Double(request.retryCount))
        let delay = jitter.vary(growth * exponentialBackoffScale)
        guard let maximumRetryAfter, hasRetryableStatus(request), let asked = request.responseHead?.retryAfter else {
            return delay
        }
        return asked > maximumRetryAfter ? nil : max(delay, asked)
    }
}

extension RetryPolicy {
    /// How often a request is retried at most: twice.
    public static let defaultRetryLimit: UInt = 2

    /// The factor by which each delay is longer than the one before: 2.
    public static let defaultExponentialBackoffBase: UInt = 2

    /// The first delay: half a second.
    public static let defaultExponentialBackoffScale = 0.5

    /// The methods whose effect is the same however often a request is sent (RFC 9110, section 9.2.2).
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [.delete, .get, .head, .options, .put, .trace]

    /// The status codes of transient failures (RFC 9110, sections 15.5.9 and 15.6): 408, 500, 502, 503, 504.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]

    /// The network errors that may be transient: those of look-ups, connections, time and the mobile network, a
    /// certificate's dates, and broken answers.
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
    /// How the delays before retries vary, so that clients that failed together do not come back together.
    public struct Jitter: Sendable {
        let vary: @Sendable (TimeInterval) -> TimeInterval

        /// Makes a rule of one's own.
        ///
        /// - Parameter vary: Makes the delay to wait from the one that the policy has computed, both in seconds. It is
        ///   called on an unspecified thread.
        @preconcurrency
        public init(_ vary: @escaping @Sendable (_ delay: TimeInterval) -> TimeInterval) {
            self.vary = vary
        }

        /// The delays stay as they are.
        public static let none = Jitter { $0 }
        /// Each delay is a random one between none and the whole.
        public static let full = Jitter { $0 > 0 ? .random(in: 0...min($0, .greatestFiniteMagnitude)) : 0 }
    }
}

/// Retries idempotent requests whose connection was lost, and nothing else.
open class ConnectionLostRetryPolicy: RetryPolicy, @unchecked Sendable {
    // Sendable because it adds nothing that changes.

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - retryLimit: How often a request is retried at most. The default is 2.
    ///   - exponentialBackoffBase: The factor by which each delay is longer than the one before. The default is 2; less is
    ///     taken for 2.
    ///   - exponentialBackoffScale: The first delay, in seconds. The default is 0.5.
    ///   - retryableHTTPMethods: The methods of the requests that are retried. The default is
    ///     ``RetryPolicy/defaultRetryableHTTPMethods``.
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
    /// How many seconds the server asks to wait before the next request (RFC 9110, section 10.2.3), nil when it does not
    /// say, or says it in a way that cannot be read.
    ///
    /// A date is compared with the response's own, if it has one, so that a wrong clock on either side does no harm.
    var retryAfter: TimeInterval? {
        guard let text = value(for: .retryAfter) else { return nil }
        if text.wholeMatch(of: /[0-9]+/) != nil { return TimeInterval(text) }
        guard let date = HTTPDate.parse(text) else { return nil }
        let now = value(for: .date).flatMap(HTTPDate.parse).map(TimeInterval.init) ?? Date().timeIntervalSince1970
        return max(0, TimeInterval(date) - now)
    }
}
