public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RequestAdapter where Self == Adapter {
    /// Returns an adapter that calls a closure once per attempt, on an unspecified thread.
    @preconcurrency
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
    /// Returns a retrier that calls a closure after each failure, on an unspecified thread.
    @preconcurrency
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
    /// Returns an interceptor that calls two closures.
    @preconcurrency
    public static func interceptor(adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// Returns an interceptor that combines an adapter and a retrier.
    public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier)
    }

    /// Returns an interceptor that combines any number of parts. The adapters and retriers run before the interceptors.
    public static func interceptor(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}

extension RequestRetrier where Self == RetryPolicy {
    /// The default policy. See
    /// ``RetryPolicy/init(retryLimit:exponentialBackoffBase:exponentialBackoffScale:retryableHTTPMethods:retryableHTTPStatusCodes:retryableURLErrorCodes:)``.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// Returns a policy with exact delays that ignores `Retry-After`.
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

    /// Returns a policy for servers under load: it randomizes its delays, waits as long as `Retry-After` specifies, and also
    /// retries status 429.
    ///
    /// - Parameters:
    ///   - maximumRetryAfter: The longest `Retry-After` to wait for, in seconds. If the server requests a longer wait, the
    ///     request fails with its original error.
    ///   - jitter: The variation of the delays. The default is ``RetryPolicy/Jitter/full``.
    ///   - retryLimit: The maximum number of retries. The default is 2.
    ///   - exponentialBackoffBase: The factor by which each delay is longer than the previous one. The default and minimum is 2.
    ///   - exponentialBackoffScale: The first delay, in seconds. The default is 0.5.
    ///   - retryableHTTPMethods: The methods of the requests that are retried. The default is
    ///     ``RetryPolicy/defaultRetryableHTTPMethods``.
    ///   - retryableHTTPStatusCodes: The status codes after which they are retried. The default is
    ///     ``RetryPolicy/defaultRetryableHTTPStatusCodes``.
    ///   - retryableURLErrorCodes: The network errors after which they are retried. The default is
    ///     ``RetryPolicy/defaultRetryableURLErrorCodes``.
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

extension RequestRetrier where Self == OfflineRetrier {
    /// The default retrier for requests that failed because there was no network. See ``OfflineRetrier``.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }

    /// Returns a retrier for requests that failed because there was no network.
    @preconcurrency
    public static func offlineRetrier(
        monitor: (any ConnectivityProvider)? = nil,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(monitor: monitor, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a network of one type.
    @preconcurrency
    public static func offlineRetrier(
        requiredInterfaceType: Connectivity.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            requiredInterfaceType: requiredInterfaceType, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a network that isn't of certain types.
    @preconcurrency
    public static func offlineRetrier(
        prohibitedInterfaceTypes: [Connectivity.InterfaceType],
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            prohibitedInterfaceTypes: prohibitedInterfaceTypes, maximumWait: maximumWait,
            isOfflineError: isOfflineError)
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
