import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

@Suite(.timeLimit(.minutes(10)))
struct RetryTests {
    /// Records the delays of a retrier, and retries immediately.
    private final class DelayRecorder: RequestInterceptor {
        let retrier: any RequestInterceptor
        let delays = Locked<[TimeInterval]>([])

        init(_ retrier: any RequestInterceptor) { self.retrier = retrier }

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            retrier.retry(request, for: session, dueTo: error) { [delays] result in
                if case .retryWithDelay(let delay) = result { delays.withLock { $0.append(delay) } }
                completion(result.retryRequired ? .retry : result)
            }
        }
    }

    @Test func theDelayIsFixed() async throws {
        let (server, session) = (try await TestServer.start(), Session())
        server.route("/busy") { _ in .text("", status: 503) }
        server.route("/later") { _ in .text("", status: 503).adding("Retry-After", "90") }
        for (path, delays) in [("/busy", [7.0, 7, 7]), ("/later", [90, 90, 90])] {
            let command = try RequestCommand<Get>.parse(["x", "--retry", "3", "--retry-delay", "7"])
            let recorder = DelayRecorder(Interceptor(interceptors: Retries(command.sending).interceptors))
            let request = session.request(server.url(path), interceptor: recorder).validate()
            #expect(await request.serializingData().response.error != nil)
            #expect(recorder.delays.withLock { $0 } == delays)
        }
        await server.stop()
        withExtendedLifetime(session) {}
    }

    @Test func allIncludesPostAndEveryServerError() async throws {
        let server = try await TestServer.start()
        let url = server.url("/unstable?key=a&failures=1").absoluteString
        let once = try await Tool.run("post", url, "--raw", "x", "--retry", "1", "--fail")
        #expect(once.status == 4 && once.errors.contains("The POST request was not retried"), "\(once.errors)")
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

    private func retries(_ limit: Int) throws -> Retries {
        Retries(try SendingOptions.parse(["--retry", "\(limit)", "--retry-delay", "0"]))
    }

    @Test func theLastResponseIsWrittenToAFile() async throws {
        let busy = { (text: String) in "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\n\(text)" }
        let server = try await RawServer.start(scripts: [
            [.respond(busy("busy")), .close], [.respond(busy("last")), .close],
        ])
        let folder = try ScratchDirectory()
        let retries = try retries(1)
        let session = Session(interceptor: Interceptor(interceptors: retries.interceptors))
        let request = session.request(server.url)
        retries.apply(to: request)
        let file = try OutputFile(path: folder.url.appending(path: "out").path)
        file.receiveBody(of: request, method: .get, timeLimit: nil) { [weak request] status in
            request.map { retries.rejects(status, of: $0) } != true
        }
        _ = await request.serializingData().response
        try file.check()
        #expect(request.retryCount == 1)
        #expect(try folder.contents(of: "out") == Data("last".utf8))
        await server.stop()
    }

    @Test func onlyRetriesAreReplacedByTheFailureOfAPipe() async throws {
        let server = try await RawServer.start([
            .respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"), .close,
        ])
        let session = Session()
        let (request, other) = (session.request(server.url), session.request("http://127.0.0.1:1/"))
        let error = try #require(await request.serializingData().response.error)
        _ = await other.serializingData().response
        UnrepeatableOutput.add(1, to: "pipe", for: request.id)
        func failure(_ limit: Int, of request: Request) async throws -> Failure? {
            let output = UnrepeatableOutput(policy: try #require(try retries(limit).policy))
            return await withCheckedContinuation { continuation in
                output.retry(request, for: session, dueTo: error) { result in
                    if case .doNotRetryWithError(let error) = result {
                        continuation.resume(returning: error as? Failure)
                    } else {
                        continuation.resume(returning: nil)
                    }
                }
            }
        }
        let failed = try #require(try await failure(1, of: request))
        #expect(failed.status == .response && failed.message.contains("--output pipe has already received 1 byte of"))
        #expect(try await failure(1, of: other) == nil)
        // After the last retry, the request fails with its own error.
        let policy = RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0)
        let last = session.request("http://127.0.0.1:1/", interceptor: policy)
        _ = await last.serializingData().response
        UnrepeatableOutput.add(1, to: "pipe", for: last.id)
        #expect(last.retryCount == 1)
        #expect(try await failure(1, of: last) == nil)
        #expect(try await failure(2, of: last) != nil)
        await server.stop()
    }

    @Test(arguments: ["post", "patch"]) func aRequestThatIsNotRetriedIsNoted(method: String) async throws {
        let server = try await TestServer.start()
        let note = "afar: The \(method.uppercased()) request was not retried. To retry it, add --retry-all."
        let url = server.url("/status/503").absoluteString
        let failed = try await Tool.run(method, url, "--retry", "3")
        #expect(failed.status == 0 && failed.errors.hasPrefix(note), "\(failed.errors)")
        #expect(server.requestCount == 1)
        let refused = try await Tool.run(method, "http://127.0.0.1:1/", "--retry", "3")
        #expect(refused.status == 3 && refused.errors.hasPrefix(note), "\(refused.errors)")
        let arguments = [
            [method, url], [method, server.url("/status/404").absoluteString, "--retry", "3"],
            [method, url, "--retry", "1", "--retry-delay", "1ms", "--retry-all"],
            ["get", url, "--retry", "1", "--retry-delay", "1ms"],
        ]
        for arguments in arguments { #expect(try await Tool.run(arguments).errors == "") }
        let other = try await Tool.run("PURGE", url, "--retry", "1")
        #expect(other.errors == "afar: The PURGE request was not retried.\n")
        await server.stop()
    }

    @Test(arguments: [["--retry-all"], ["--retry-delay", "1"], ["--retry", "1", "--retry-delay", "-1"]])
    func invalidCombinationsAreUsageErrors(options: [String]) async throws {
        let outcome = try await Tool.run(["get", ":1/"] + options)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--retry"), "\(outcome.errors)")
    }
}
