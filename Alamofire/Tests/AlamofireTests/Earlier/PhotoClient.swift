import Alamofire
import Foundation

/// A client written for Alamofire 4.x, with the changes that the migration guide describes.
class PhotoClient {
    enum PhotoRouter: URLRequestConvertible {
        case search(query: String, page: Int)
        case create(Parameters)

        static let perPage = 50

        func asURLRequest() throws -> URLRequest {
            let result: (path: String, parameters: Parameters) = {
                switch self {
                case let .search(query, page) where page > 0:
                    return ("/search", ["q": query, "offset": PhotoRouter.perPage * page])
                case let .search(query, _):
                    return ("/search", ["q": query])
                case let .create(parameters):
                    return ("/photos", parameters)
                }
            }()
            let url = try PhotoClient.baseURLString.asURL()
            var urlRequest = URLRequest(url: url.appendingPathComponent(result.path))
            if case .create = self {
                urlRequest.httpMethod = HTTPMethod.post.rawValue
                return try JSONEncoding.default.encode(urlRequest, with: result.parameters)
            }
            return try URLEncoding.default.encode(urlRequest, with: result.parameters)
        }
    }

    nonisolated(unsafe) static var baseURLString = "http://localhost"

    let sessionManager: SessionManager
    private let queue = DispatchQueue(label: "photos", qos: .userInitiated, attributes: .concurrent)

    init(interceptor: RequestInterceptor? = nil) {
        var defaultHeaders = SessionManager.defaultHTTPHeaders
        defaultHeaders["DNT"] = "1 (Do Not Track Enabled)"
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = defaultHeaders
        sessionManager = SessionManager(configuration: configuration, interceptor: interceptor)
    }

    func search(_ query: String, page: Int = 0, completion: @escaping @Sendable ([String]) -> Void) {
        sessionManager.request(PhotoRouter.search(query: query, page: page))
            .validate(statusCode: 200..<300)
            .validate(contentType: ["application/json"])
            .responseJSON { response in
                print(response.timeline)
                switch response.result {
                case .success(let value):
                    completion((value as? [String: Any])?["photos"] as? [String] ?? [])
                case .failure(let error):
                    print(error)
                    completion([])
                }
            }
    }

    func create(_ parameters: Parameters, completion: @escaping @Sendable (DefaultDataResponse) -> Void) {
        sessionManager.request(PhotoRouter.create(parameters)).response(queue: queue) { completion($0) }
    }

    func caption(_ path: String, completion: @escaping @Sendable (String?, Error?) -> Void) {
        Alamofire.request(PhotoClient.baseURLString + path, method: .get, encoding: URLEncoding.default)
            .authenticate(user: "ada", password: "lovelace")
            .downloadProgress(queue: DispatchQueue.global(qos: .utility)) { print("progress: \($0.fractionCompleted)") }
            .responseString { response in
                guard response.result.isSuccess else {
                    completion(nil, response.result.error)
                    return
                }
                completion(response.result.value, response.error)
            }
    }

    func fetch(
        _ path: String, to destination: DownloadRequest.DownloadFileDestination? = nil,
        completion: @escaping @Sendable (DefaultDownloadResponse) -> Void
    ) {
        sessionManager.download(PhotoClient.baseURLString + path, to: destination).response(queue: queue) {
            completion($0)
        }
    }

    func upload(_ photo: Data, completion: @escaping @Sendable (Any?) -> Void) {
        Alamofire.upload(photo, to: PhotoClient.baseURLString + "/upload", method: .put, headers: ["X-Photo": "1"])
            .uploadProgress { print("sent: \($0.completedUnitCount)") }
            .responseJSON { completion($0.result.value) }
    }
}

/// Refreshes a rejected token, and then completes all waiting requests together.
class TokenHandler: RequestInterceptor, @unchecked Sendable {
    private let lock = NSLock()
    private var accessToken = "old"
    private var isRefreshing = false
    private var requestsToRetry: [@Sendable (RetryResult) -> Void] = []
    private(set) var refreshes = 0

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
    ) {
        lock.lock()
        defer { lock.unlock() }
        var urlRequest = urlRequest
        if let urlString = urlRequest.url?.absoluteString, urlString.hasPrefix(PhotoClient.baseURLString) {
            urlRequest.setValue("Bearer " + accessToken, forHTTPHeaderField: "Authorization")
        }
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        lock.lock()
        defer { lock.unlock() }
        guard let response = request.task?.response as? HTTPURLResponse, response.statusCode == 401 else {
            return completion(.doNotRetry)
        }
        guard request.request?.value(forHTTPHeaderField: "Authorization") == "Bearer " + accessToken else {
            return completion(.retry)
        }
        requestsToRetry.append(completion)
        guard !isRefreshing else { return }
        isRefreshing = true
        refreshes += 1
        session.request(PhotoClient.baseURLString + "/token", method: .post).responseJSON { [weak self] response in
            guard let self else { return }
            lock.lock()
            defer { lock.unlock() }
            let token = (response.result.value as? [String: Any])?["access_token"] as? String
            if let token { accessToken = token }
            isRefreshing = false
            requestsToRetry.forEach { $0(token == nil ? .doNotRetry : .retry) }
            requestsToRetry.removeAll()
        }
    }
}
