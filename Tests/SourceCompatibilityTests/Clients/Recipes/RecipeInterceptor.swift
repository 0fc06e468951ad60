import Afar

/// Keeps a token where all of the app's requests find it.
final class TokenStore: @unchecked Sendable {
    static let shared = TokenStore()
    private let lock = NSLock()
    private var token: String?

    func fetchAccessToken() -> String? {
        lock.lock()
        defer { lock.unlock() }
        return token
    }

    func addAccessToken(_ token: String?) {
        lock.lock()
        defer { lock.unlock() }
        self.token = token
    }
}

/// Adds the token, and asks a service that is busy again. Its count has no lock: adapters and retriers of one session are
/// called one at a time.
class RecipeInterceptor: RequestInterceptor, @unchecked Sendable {
    let retryLimit = 5
    let retryDelay: TimeInterval = 0.001
    private(set) var adapted = 0

    func adapt(
        _ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void
    ) {
        adapted += 1
        var urlRequest = urlRequest
        if let token = TokenStore.shared.fetchAccessToken() {
            urlRequest.setValue("token \(token)", forHTTPHeaderField: "Authorization")
        }
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: Error, completion: @escaping (RetryResult) -> Void
    ) {
        let response = request.task?.response as? HTTPURLResponse
        // Retry only for server errors.
        if let statusCode = response?.statusCode, (500...599).contains(statusCode), request.retryCount < retryLimit {
            completion(.retryWithDelay(retryDelay))
        } else {
            return completion(.doNotRetry)
        }
    }
}
