import Afar

/// Stores a token for all of the app's requests.
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

/// Adds the token, and retries when a service is busy. The count needs no lock, because a session calls its adapters
/// and retriers one at a time.
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
        if let statusCode = response?.statusCode, (500...599).contains(statusCode), request.retryCount < retryLimit {
            completion(.retryWithDelay(retryDelay))
        } else {
            return completion(.doNotRetry)
        }
    }
}
