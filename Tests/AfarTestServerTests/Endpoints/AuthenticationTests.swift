import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AuthenticationTests {
    @Test func requiresBasicCredentials() async throws {
        try await withServer { server in
            let url = server.url("/basic-auth/ada/p%3Aw%20d")
            let refused = try await Curl.get(url)
            #expect(refused.status == 401)
            #expect(refused.values("WWW-Authenticate") == [#"Basic realm="Afar""#])
            #expect(try await Curl.get(url, "-u", "ada:wrong").status == 401)
            #expect(try await Curl.get(url, "-u", "ada:p:w d").status == 200)
        }
    }

    @Test func requiresABearerToken() async throws {
        try await withServer { server in
            let url = server.url("/bearer")
            #expect(try await Curl.get(url, "-u", "a:b").status == 401)
            let answer = try await Curl.get(url, "-H", "Authorization: bearer t-1")
            #expect(try answer.json["token"] as? String == "t-1")
        }
    }
}
