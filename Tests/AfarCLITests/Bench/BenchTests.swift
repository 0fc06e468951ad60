import Afar
import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BenchTests {
    private func report(_ arguments: String...) async throws -> NSDictionary {
        try await Tool.run(["bench"] + arguments + ["--report", "-"]).json()
    }

    private func latency(_ report: NSDictionary, _ name: String) throws -> Double {
        try #require((report["latency"] as? NSDictionary)?[name] as? Double)
    }

    @Test func requestsAreCountedByStatusWithoutTheWarmUp() async throws {
        let server = try await TestServer.start()
        let number = Locked(0)
        server.route("/mixed") { _ in
            let number = number.withLock { number in
                number += 1
                return number
            }
            return .text("hello", status: number % 5 == 0 ? 503 : 200)
        }
        let report = try await report(
            server.url("/mixed").absoluteString, "--requests", "95", "--concurrency", "5")
        #expect(report["requests"] as? Int == 95)
        #expect(report["responses"] as? Int == 95)
        #expect(report["statuses"] as? [String: Int] == ["200": 76, "503": 19])
        #expect(server.requestCount(path: "/mixed") == 100)
        #expect(server.connectionCount <= 5)
        #expect(try #require(report["bytesReceived"] as? Int) > 95 * 5)
        #expect(report["url"] as? String == server.url("/mixed").absoluteString)
    }

    @Test func resultsAreShownAsText() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(
            "bench", server.url("/echo").absoluteString, "--requests", "20", "--json", "name=Ada")
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        let lines = outcome.text.split(separator: "\n")
        #expect(lines[0].wholeMatch(of: /Requests   20 in \d+\.\d s, [\d.]+ responses per second/) != nil)
        #expect(lines[1] == "Statuses   200: 20" || lines[1] == "Statuses   404: 20")
        #expect(lines[2] == "Errors     none")
        #expect(
            lines.map { $0.prefix(7) }.suffix(6) == ["  p50  ", "  p90  ", "  p95  ", "  p99  ", "  p99.9", "  max  "])
        let request = try #require(server.lastRequest(path: "/echo"))
        #expect(request.method == "POST" && request.text == #"{"name":"Ada"}"#)
    }

    /// 8 of 100 responses take a second. The others take a few milliseconds.
    @Test func percentilesMatchTheDelaysOfTheServer() async throws {
        let server = try await TestServer.start()
        let number = Locked(0)
        server.route("/delayed") { _ in
            let number = number.withLock { number in
                number += 1
                return number
            }
            var response = ServerResponse.text("ok")
            // The warm-up sends the first 10 requests.
            if number > 10, number <= 18 { response.delay = 1 }
            return response
        }
        let report = try await report(server.url("/delayed").absoluteString, "--requests", "100")
        #expect(try latency(report, "p50") < 1000)
        #expect(try latency(report, "p90") < 1000)
        #expect(try latency(report, "p95") >= 999)
        #expect(try latency(report, "p99") >= 999)
        #expect(try latency(report, "max") >= 1000)
        #expect(try latency(report, "mean") >= 80)
    }

    /// With one connection, only one request is in progress during the stall. The requests that are due during the stall wait.
    @Test func aStallDelaysAllRequestsThatAreDue() async throws {
        let server = try await TestServer.start()
        let number = Locked(0)
        server.route("/stalled") { _ in
            let number = number.withLock { number in
                number += 1
                return number
            }
            var response = ServerResponse.text("ok")
            if number == 20 { response.delay = 1 }
            return response
        }
        let report = try await report(
            server.url("/stalled").absoluteString, "--concurrency", "1", "--rate", "100", "--requests", "150")
        // About 100 of the 150 requests are due during the stall.
        #expect(try latency(report, "p50") > 100)
        #expect(try latency(report, "p90") > 500)
        #expect(try latency(report, "p99") > 800)
    }

    @Test func theShortOptionsAreThoseOfLoadGenerators() async throws {
        let server = try await TestServer.start()
        let url = server.url("/json").absoluteString
        let counted = try await report(url, "-c", "2", "-n7")
        #expect(counted["requests"] as? Int == 7 && counted["concurrency"] as? Int == 2)
        let timed = try await report(url, "-c", "2", "-z", "200ms")
        #expect((timed["requests"] as? Int ?? 0) > 0)
        #expect(try await Tool.run("bench", url, "-n", "1", "--cookie-jar", "jar").status == 2)
        await server.stop()
    }

    @Test func aRateSpreadsTheRequests() async throws {
        let server = try await TestServer.start()
        let report = try await report(
            server.url("/json").absoluteString, "--rate", "50", "--requests", "26")
        #expect(report["requests"] as? Int == 26)
        #expect(try #require(report["duration"] as? Double) >= 499)
        #expect(report["rate"] as? Double == 50)
    }

    @Test func requestsThatTheServerNeverAnswersAreUnfinished() async throws {
        let server = try await TestServer.start()
        let number = Locked(0)
        server.route("/hanging") { _ in
            let number = number.withLock { number in
                number += 1
                return number
            }
            var response = ServerResponse.text("ok")
            if number > 1 { response.delay = 600 }
            return response
        }
        let report = try await report(
            server.url("/hanging").absoluteString, "--concurrency", "1", "--rate", "100", "--duration", "1s")
        #expect(report["responses"] as? Int == 0)
        #expect(report["unfinished"] as? Int == 100)
        #expect(try latency(report, "p50") > 4000)
    }

    @Test func errorsDoNotEndTheRun() async throws {
        let port = try ClosedPort()
        let outcome = try await Tool.run(
            "bench", port.url.absoluteString, "--requests", "20", "--concurrency", "2", "--report", "-")
        #expect(outcome.status == 3)
        let report = try outcome.json()
        #expect(report["errors"] as? [String: Int] == ["cannotConnect": 20])
        #expect(report["exitCode"] as? Int == 3)
        #expect((report["latency"] as? NSDictionary)?["p50"] is NSNull)
        #expect(outcome.errors.hasPrefix("afar: Could not connect to 127.0.0.1:\(port.number)"), "\(outcome.errors)")
    }

    @Test func timeoutsCountAsLatency() async throws {
        let server = try await TestServer.start()
        let report = try await report(
            server.url("/delay/60").absoluteString, "--requests", "4", "--concurrency", "4", "--timeout", "0.3")
        #expect(report["errors"] as? [String: Int] == ["timedOut": 4])
        #expect(try latency(report, "p50") >= 299)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheRunAndPrintsTheResults(signal: Int32) async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        let arguments = [
            "bench", server.url("/json").absoluteString, "--duration", "1h", "--report", "report.json",
        ]
        let outcome = try await Tool.run(arguments, directory: directory.url) { process in
            while server.requestCount < 50 { try await Task.sleep(for: .milliseconds(20)) }
            kill(process, signal)
        }
        #expect(outcome.status == -signal)
        #expect(outcome.text.contains("Statuses   200: "))
        let report = try JSONSerialization.jsonObject(with: directory.contents(of: "report.json")) as? NSDictionary
        #expect(report?["exitCode"] as? Int32 == 128 + signal)
        #expect(try #require(report?["responses"] as? Int) > 0)
    }

    @Test func loadingAnotherMachineRequiresPermission() async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let other = try await Tool.run(
            "bench", "http://load.invalid/json", "--connect-to", "load.invalid:80:127.0.0.1:\(port)", "--requests", "1",
            "--concurrency", "1")
        #expect(
            other.errors == "afar: load.invalid isn't this machine. You need permission to load this server.\n",
            "\(other.errors)")
        #expect(other.status == 0)
        let here = try await Tool.run("bench", ":\(port)/json", "--requests", "1", "--concurrency", "1")
        #expect(here.errors == "")
    }

    @Test(arguments: [
        (["--requests", "1", "--duration", "1s"], "--requests can't be combined with --duration"),
        (["--rate", "0"], "--rate"),
        (["--rate", "1e-300"], "--rate"),
        (["--concurrency", "0"], "--concurrency"), (["--duration", "10q"], "10s, 500ms or 2m"),
        (["--retry", "1"], "--retry can't be combined with bench"), (["--har", "a"], "--har"),
        (["--method", "a b"], "--method requires the name of a method"),
    ])
    func invalidOptionsAreUsageErrors(options: [String], words: String) async throws {
        let outcome = try await Tool.run(["bench", ":1/"] + options)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
}
