import AfarTesting
import Foundation

@testable import AfarCore

/// Returns the delay before each retry until the policy gives up, without waiting.
func delays(
    of policy: RetryPolicy, method: HTTPMethod = .get,
    _ answer: @escaping @Sendable () -> MockResponse = { .status(503) }
) async -> [TimeInterval] {
    let delays = Locked<[TimeInterval]>([])
    let impatient = Retrier { request, session, error, completion in
        policy.retry(request, for: session, dueTo: error) { result in
            guard case .retryWithDelay(let delay) = result else { return completion(result) }
            delays.withLock { $0.append(delay) }
            completion(.retry)
        }
    }
    let session = Session(interceptor: impatient, transport: MockTransport { _ in answer() })
    _ = await session.request("http://mock/", method: method).validate().serializingResponse(using: Bytes()).response
    return delays.withLock { $0 }
}
