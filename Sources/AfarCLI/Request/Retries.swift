import Afar
import HTTPTypes

/// The retries of a request.
struct Retries {
    let limit: UInt
    /// The delay before the first retry, in seconds; nil for a random delay.
    var delay: Double?
    /// Whether to retry requests that aren't idempotent, and all statuses from 500 to 599.
    var includesAll = false

    init(_ options: SendingOptions) {
        limit = options.retry
        delay = options.retryDelay
        includesAll = options.retryAll
    }

    /// The retry policy. It honors the server's delays up to five minutes. Nil without retries.
    var policy: RetryPolicy? {
        guard limit > 0 else { return nil }
        let (methods, statuses) = (RetryPolicy.defaultRetryableHTTPMethods, RetryPolicy.defaultRetryableHTTPStatusCodes)
        return RetryPolicy(
            retryLimit: limit, exponentialBackoffScale: delay ?? RetryPolicy.defaultExponentialBackoffScale,
            retryableHTTPMethods: includesAll ? methods.union([.post, .patch]) : methods,
            retryableHTTPStatusCodes: includesAll ? statuses.union(500...599) : statuses,
            jitter: delay == nil ? .full : .none, maximumRetryAfter: 300)
    }

    /// Makes temporary error statuses fail the request while retries remain, because only failed requests are retried.
    func apply(to request: DataRequest) {
        guard let policy else { return }
        request.validate { [weak request, limit] urlRequest, response, _ in
            guard let request, request.retryCount < limit, let method = urlRequest?.method,
                policy.retryableHTTPMethods.contains(method),
                policy.retryableHTTPStatusCodes.contains(response.statusCode)
            else { return .success }
            return .failure(
                AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.statusCode)))
        }
    }
}
