import Alamofire
import Testing

/// The singleton of an app, with its own configuration.
class NewsManager {
    static let sharedManager: SessionManager = {
        var headers = SessionManager.defaultHTTPHeaders
        headers["X-Client"] = "news"
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = headers
        configuration.timeoutIntervalForRequest = 15
        return SessionManager(configuration: configuration)
    }()

    static func headlines(_ url: String, completion: @escaping @Sendable ([String]?) -> Void) {
        sharedManager.request(url, method: .get, parameters: ["count": 2], encoding: URLEncoding.default)
            .validate(statusCode: 200..<300)
            .responseJSON { response in
                guard response.result.isSuccess else { return completion(nil) }
                completion(response.result.value as? [String])
            }
    }
}

@Suite struct NewsManagerTests {
    @Test func headlinesAreRead() async throws {
        try await withServer { server in
            server.route("/news") { request in try .json([request.query, request.headers["X-Client"] ?? ""]) }
            let url = server.url("/news").absoluteString
            let headlines = await withCheckedContinuation { done in
                NewsManager.headlines(url) { done.resume(returning: $0) }
            }
            #expect(headlines == ["count=2", "news"])
        }
    }
}
