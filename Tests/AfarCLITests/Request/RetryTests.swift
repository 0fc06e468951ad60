import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RetryTests {
    @Test func theFirstDelayIsFixedAndDoubles() async throws {
        let server = try await TestServer.start()
        let start = ContinuousClock.now
        let outcome = try await Tool.run(
            "get", server.url("/unstable?key=a&failures=2").absoluteString, "--retry", "2", "--retry-delay", "0.2", "-f"
        )
        #expect(outcome.status == 0)
        #expect(ContinuousClock.now - start >= .seconds(0.6))
        #expect(server.requestCount == 3)
    }

    @Test func allIncludesPostAndEveryServerError() async throws {
        let server = try await TestServer.start()
        let url = server.url("/unstable?key=a&failures=1").absoluteString
        let once = try await Tool.run("post", url, "--raw", "x", "--retry", "1", "--fail")
        #expect(once.status == 4)
        let arguments = ["--retry", "1", "--retry-delay", "0", "--retry-all", "--fail"]
        let again = server.url("/unstable?key=b&failures=1").absoluteString
        let repeated = try await Tool.run(["post", again, "--raw", "x"] + arguments)
        #expect(repeated.status == 0)
        let status = server.url("/status/501").absoluteString
        _ = try await Tool.run("get", status, "--retry", "1", "--retry-delay", "0")
        #expect(server.requestCount(path: "/status/501") == 1)
        _ = try await Tool.run(["get", status] + arguments)
        #expect(server.requestCount(path: "/status/501") == 3)
    }

    @Test(arguments: [["--retry-all"], ["--retry-delay", "1"], ["--retry", "1", "--retry-delay", "-1"]])
    func invalidCombinationsAreUsageErrors(options: [String]) async throws {
        let outcome = try await Tool.run(["get", ":1/"] + options)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--retry"), "\(outcome.errors)")
    }
}
