import Afar
import Foundation

/// A retry policy with an app's settings.
final class BusyRetryPolicy: RetryPolicy, @unchecked Sendable {
    override init(
        retryLimit: UInt = 3, exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = 0.001,
        retryableHTTPMethods: Set<HTTPMethod> = [.get, .post],
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes.union([429]),
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) {
        super.init(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes, retryableURLErrorCodes: retryableURLErrorCodes)
    }

    override func shouldRetry(request: Request, dueTo error: Error) -> Bool {
        guard !request.isCancelled else { return false }
        return super.shouldRetry(request: request, dueTo: error)
    }
}

/// A retry policy with fewer settings than its superclass.
final class LostRetryPolicy: ConnectionLostRetryPolicy, @unchecked Sendable {
    init() {
        super.init(
            retryLimit: 1, exponentialBackoffBase: 2, exponentialBackoffScale: 0.001, retryableHTTPMethods: [.get])
    }

    override func retry(
        _ request: Request, for session: Session, dueTo error: Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        super.retry(request, for: session, dueTo: error) { result in
            completion(result.retryRequired ? .retryWithDelay(result.delay ?? 0) : result)
        }
    }
}
