import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RedirectsTests {
    @Test func followsRedirectsToTheEnd() async throws {
        try await withServer { server in
            let chain = try await Curl.get(server.url("/redirect/3"), "-L")
            #expect(try chain.json["path"] as? String == "/get")
            #expect(server.requestCount == 4)
            let single = try await Curl.get(server.url("/redirect-to?url=http%3A%2F%2Fa.test%2Fb&status_code=307"))
            #expect(single.status == 307)
            #expect(single.values("Location") == ["http://a.test/b"])
            #expect(try await Curl.get(server.url("/redirect-to?url=/get")).status == 302)
        }
    }
}
