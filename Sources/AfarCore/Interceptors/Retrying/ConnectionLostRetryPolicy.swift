import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
