import Afar

/// Tries again what may go better later.
struct Retries {
    let limit: UInt

    /// Does so; waits for as long as a server asks for, up to five minutes.
    var policy: RetryPolicy? {
        limit > 0 ? RetryPolicy(retryLimit: limit, jitter: .full, maximumRetryAfter: 300) : nil
    }

    /// Has a status that speaks of a passing trouble fail the request as long as retries are left: only failures are
    /// retried.
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
