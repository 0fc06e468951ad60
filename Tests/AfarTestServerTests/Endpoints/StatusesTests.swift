import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct StatusesTests {
    @Test(arguments: [200, 204, 205, 304, 404, 418, 500, 599, 999])
    func answersWithTheStatus(code: Int) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/status/\(code)"))
            #expect(answer.status == code)
            #expect(answer.body.isEmpty == [204, 205, 304].contains(code))
        }
    }

    @Test(arguments: ["/status/100", "/status/1000", "/status/x", "/bytes/-1", "/redirect-to", "/delay/nan"])
    func rejectsInvalidArguments(path: String) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url(path))
            #expect(answer.status == 400)
        }
    }

    @Test func sendsTheRequestedHeaders() async throws {
        try await withServer { server in
            let path = "/response-headers?X-A=1&X-A=2&Content-Type=text/x&Set-Cookie=a%3Db&X-B=c%0D%0AX-C:d"
            let answer = try await Curl.get(server.url(path))
            #expect(answer.values("X-A") == ["1", "2"])
            #expect(answer.values("Content-Type") == ["text/x"])
            #expect(answer.values("Set-Cookie") == ["a=b"])
            #expect(answer.values("X-C").isEmpty)
        }
    }

    @Test func failsTheRequestedNumberOfTimesPerKey() async throws {
        try await withServer { server in
            var statuses: [Int] = []
            for key in ["a", "a", "b", "a"] {
                statuses.append(try await Curl.get(server.url("/unstable?failures=2&key=\(key)")).status)
            }
            #expect(statuses == [503, 503, 503, 200])
        }
    }
}
