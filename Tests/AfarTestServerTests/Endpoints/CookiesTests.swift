import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CookiesTests {
    @Test func showsAndSetsCookies() async throws {
        try await withServer { server in
            let shown = try await Curl.get(server.url("/cookies"), "-b", "a=1; b=x=y").json
            #expect(shown["cookies"] as? [String: String] == ["a": "1", "b": "x=y"])
            #expect(shown["header"] as? String == "a=1; b=x=y")
            let set = try await Curl.get(server.url("/cookies/set?a=1&b=2"))
            #expect(set.values("Set-Cookie") == ["a=1; Path=/", "b=2; Path=/"])
        }
    }
}
