import Afar
import AfarCore
import Foundation
import HTTPTypes

/// The retries of a request.
struct Retries {
    let limit: UInt
    /// The delay before each retry, in seconds; nil for random delays.
    var delay: Double?
    /// Whether to retry requests that aren't idempotent, and all statuses from 500 to 599.
    var includesAll = false

    init(_ options: SendingOptions) {
        limit = options.retry
        delay = options.retryDelay?.seconds
        includesAll = options.retryAll
    }

    /// The retry policy. It honors the server's delays up to five minutes. Nil without retries.
    var policy: RetryPolicy? {
        guard limit > 0 else { return nil }
        let (methods, statuses) = (RetryPolicy.defaultRetryableHTTPMethods, RetryPolicy.defaultRetryableHTTPStatusCodes)
        return RetryPolicy(
            retryLimit: limit, exponentialBackoffScale: delay == nil ? RetryPolicy.defaultExponentialBackoffScale : 0,
            retryableHTTPMethods: includesAll ? methods.union([.post, .patch]) : methods,
            retryableHTTPStatusCodes: includesAll ? statuses.union(500...599) : statuses,
            jitter: delay == nil ? .full : .none, maximumRetryAfter: 300)
    }

    /// The retrier, its exception for output that can't be repeated, and the note for requests that it would retry if they had another
    /// method.
    var interceptors: [any RequestInterceptor] {
        guard let policy else { return [] }
        let retrier: any RequestInterceptor = delay.map { FixedDelay(policy: policy, seconds: $0) } ?? policy
        return [UnrepeatableOutput(policy: policy), retrier, UnretriedRequest(policy: policy)]
    }

    /// curl's options for the same retries. curl's delay has whole seconds.
    var curlOptions: [String] {
        guard limit > 0 else { return [] }
        return ["--retry", "\(limit)", "--retry-connrefused"]
            + (includesAll ? ["--retry-all-errors"] : [])
            + (delay.map { ["--retry-delay", "\(Int($0.rounded(.up)))"] } ?? [])
    }

    /// Returns whether the request is sent again because of a response's status.
    func rejects(_ status: Int, of request: Request) -> Bool {
        guard let policy, let method = request.lastRequest?.method else { return false }
        return isTemporary(status, of: request, policy) && policy.retryableHTTPMethods.contains(method)
    }

    /// Returns whether retries remain and the policy retries the status, whatever the method.
    func includes(_ status: Int, of request: Request) -> Bool {
        policy.map { isTemporary(status, of: request, $0) } ?? false
    }

    /// Returns whether retries remain and the policy retries the status.
    private func isTemporary(_ status: Int, of request: Request, _ policy: RetryPolicy) -> Bool {
        request.retryCount < limit && policy.retryableHTTPStatusCodes.contains(status)
    }

    /// Makes temporary error statuses fail the request while retries remain, because only failed requests are retried.
    func apply(to request: DataRequest) {
        guard let policy else { return }
        request.validate { [weak request] urlRequest, response, _ in
            guard let request, let method = urlRequest?.method,
                isTemporary(response.statusCode, of: request, policy)
            else { return .success }
            guard policy.retryableHTTPMethods.contains(method) else {
                UnretriedRequest.note(method)
                return .success
            }
            return .failure(
                AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.statusCode)))
        }
    }
}

/// Retries like a policy without delays, but waits before each retry.
private struct FixedDelay: RequestInterceptor {
    let policy: RetryPolicy
    let seconds: Double

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        policy.retry(request, for: session, dueTo: error) { [seconds] result in
            // The policy's own delay is the server's `Retry-After`.
            if case .retryWithDelay(let delay) = result {
                completion(.retryWithDelay(max(delay, seconds)))
            } else {
                completion(result)
            }
        }
    }
}

/// Notes that a request wasn't retried because of its method.
struct UnretriedRequest: RequestInterceptor {
    private static let methods = Locked<[HTTPMethod]>([])

    let policy: RetryPolicy

    /// Never retries, because the retry policy has already decided.
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        defer { completion(.doNotRetry) }
        guard let method = request.request?.method, !policy.retryableHTTPMethods.contains(method) else { return }
        let anyMethod = RetryPolicy(retryLimit: policy.retryLimit, retryableHTTPMethods: [method])
        if anyMethod.shouldRetry(request: request, dueTo: error) { Self.note(method) }
    }

    static func note(_ method: HTTPMethod) { methods.withLock { if !$0.contains(method) { $0.append(method) } } }

    /// Prints which requests weren't retried.
    static func report() {
        for method in methods.withLock({ $0 }) {
            let name = TerminalText.line(method.rawValue)
            let advice =
                [.post, .patch].contains(method)
                ? " To retry it, add --retry-all. The server can then execute it twice." : ""
            Messages.note("The \(name) request was not retried.\(advice)")
        }
    }
}
