public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RequestAdapter where Self == Adapter {
    /// An adapter made of a closure, which is called once for each attempt, on an unspecified thread.
    @preconcurrency
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
    /// A retrier made of a closure, which is called after each failure, on an unspecified thread.
    @preconcurrency
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
    /// An interceptor made of two closures.
    @preconcurrency
    public static func interceptor(adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// An interceptor made of an adapter and a retrier.
    public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier)
    }

    /// An interceptor made of any number of parts; the adapters and retriers come before the interceptors.
    public static func interceptor(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}

extension RequestRetrier where Self == RetryPolicy {
    /// The default policy: ``RetryPolicy/init(retryLimit:exponentialBackoffBase:exponentialBackoffScale:retryableHTTPMethods:retryableHTTPStatusCodes:retryableURLErrorCodes:)``
    /// says what it does.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// A policy with exact delays that pays no attention to `Retry-After`.
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

    /// A policy for servers under load: it spreads its attempts at random, waits as long as `Retry-After` says, and
    /// retries status 429 too.
    ///
    /// - Parameters:
    ///   - maximumRetryAfter: The longest `Retry-After` to wait for, in seconds. When the server asks for more, the
    ///     request fails with what it failed with.
    ///   - jitter: How the delays vary. The default is ``RetryPolicy/Jitter/full``.
    ///   - retryLimit: How often a request is retried at most. The default is 2.
    ///   - exponentialBackoffBase: The factor by which each delay is longer than the one before. The default is 2; less
    ///     is taken for 2.
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
    /// The default retrier for requests that failed because there was no network: ``OfflineRetrier`` says what it does.
    public static var offlineRetrier: OfflineRetrier { OfflineRetrier() }

    /// A retrier for requests that failed because there was no network.
    @preconcurrency
    public static func offlineRetrier(
        monitor: (any ConnectivityProvider)? = nil,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(monitor: monitor, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// The same for a network of one type.
    @preconcurrency
    public static func offlineRetrier(
        requiredInterfaceType: Connectivity.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            requiredInterfaceType: requiredInterfaceType, maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// The same for a network that is not of certain types.
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
    /// The default policy for connections that were lost.
    public static var connectionLostRetryPolicy: ConnectionLostRetryPolicy { ConnectionLostRetryPolicy() }

    /// A policy for connections that were lost.
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
