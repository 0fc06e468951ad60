import Alamofire
import Testing

/// An adapter and a retrier that are set on a manager after it was created.
final class TokenHandlers: RequestAdapter, RequestRetrier, @unchecked Sendable {
    private let lock = NSLock()
    private var token = "expired"
    private var requestsToRetry: [RequestRetryCompletion] = []

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.setValue(lock.withLock { token }, forHTTPHeaderField: "X-Token")
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: Error, completion: @escaping RequestRetryCompletion
    ) {
        guard (request.task?.response as? HTTPURLResponse)?.statusCode == 401, request.retryCount == 0 else {
            return completion(.doNotRetry)
        }
        let waiting = lock.withLock {
            token = "valid"
            requestsToRetry.append(completion)
            defer { requestsToRetry = [] }
            return requestsToRetry
        }
        waiting.forEach { $0(.retry) }
    }
}

@Suite struct TokenHandlersTests {
    @Test func anExpiredTokenIsReplaced() async throws {
        try await withServer { server in
            server.route("/account") { request in
                request.headers["X-Token"] == "valid" ? .text("balance") : .text("", status: 401)
            }
            let handlers = TokenHandlers()
            let sessionManager = SessionManager()
            sessionManager.adapter = handlers
            sessionManager.retrier = handlers
            let text = await withCheckedContinuation { done in
                sessionManager.request(server.url("/account")).validate().responseString { response in
                    done.resume(returning: response.result.value)
                }
            }
            #expect(text == "balance")
        }
    }
}
