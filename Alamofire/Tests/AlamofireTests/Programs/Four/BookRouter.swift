import Alamofire
import Testing

/// A router with dictionaries of parameters.
enum BookRouter: URLRequestConvertible {
    case find(base: String, parameters: Parameters)
    case create(base: String, parameters: Parameters)

    var method: HTTPMethod {
        switch self {
        case .find: return .get
        case .create: return .post
        }
    }

    func asURLRequest() throws -> URLRequest {
        switch self {
        case .find(let base, let parameters):
            let url = try base.asURL()
            var urlRequest = URLRequest(url: url.appendingPathComponent("books"))
            urlRequest.httpMethod = method.rawValue
            return try URLEncoding.default.encode(urlRequest, with: parameters)
        case .create(let base, let parameters):
            let url = try base.asURL()
            var urlRequest = URLRequest(url: url.appendingPathComponent("books"))
            urlRequest.httpMethod = method.rawValue
            return try JSONEncoding.default.encode(urlRequest, with: parameters)
        }
    }
}

@Suite struct BookRouterTests {
    @Test func booksAreFoundAndCreated() async throws {
        try await withServer { server in
            server.route("/books") { request in .text("\(request.method) \(request.query) \(request.text ?? "")") }
            let base = server.url.absoluteString
            let routes = [
                BookRouter.find(base: base, parameters: ["author": "Woolf"]),
                BookRouter.create(base: base, parameters: ["title": "Orlando"]),
            ]
            var answers: [String?] = []
            for route in routes {
                answers.append(
                    await withCheckedContinuation { done in
                        Alamofire.request(route).responseString { done.resume(returning: $0.result.value) }
                    })
            }
            #expect(answers == ["GET author=Woolf ", #"POST  {"title":"Orlando"}"#])
        }
    }
}
