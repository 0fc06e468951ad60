import Alamofire
import Testing

/// A session of an app, with a base URL and a header in every request.
final class ArticleSession: Session, @unchecked Sendable {
    struct Article: Codable, Equatable, Sendable {
        let id: Int
        let title: String
    }

    var host = URL(string: "http://localhost")

    override func request(
        _ convertible: URLRequestConvertible, interceptor: RequestInterceptor? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        super.request(
            Stamped(base: convertible), interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    func article(_ id: Int) async throws -> Article {
        let url = (host ?? URL(fileURLWithPath: "/")).appendingPathComponent("articles/\(id)")
        return try await request(url).validate().serializingDecodable(Article.self).value
    }

    private struct Stamped: URLRequestConvertible {
        let base: URLRequestConvertible

        func asURLRequest() throws -> URLRequest {
            var request = try base.asURLRequest()
            request.headers.add(name: "X-Edition", value: "morning")
            return request
        }
    }
}

@Suite struct ArticleSessionTests {
    @Test func anArticleIsRead() async throws {
        try await withServer { server in
            server.route("/articles/{id}") { _ in try .json(ArticleSession.Article(id: 7, title: "Tides")) }
            let session = ArticleSession()
            session.host = server.url
            let article = try await session.article(7)
            #expect(article == ArticleSession.Article(id: 7, title: "Tides"))
            #expect(server.lastRequest(path: "/articles/7")?.headers["X-Edition"] == "morning")
        }
    }
}
