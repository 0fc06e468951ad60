import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exact text of log entries.
@Suite struct LoggingMonitorTests {
    /// Collects log entries, with durations and identifiers replaced.
    private final class LogRecorder: Sendable {
        private let entries = Locked<[LoggingMonitor.Entry]>([])

        var all: [LoggingMonitor.Entry] { entries.withLock { $0 } }

        var lines: [String] {
            all.map { entry in
                "\(entry)".replacing(/[0-9]+\.[0-9] ms/, with: "T ms").replacing(/\[[0-9A-F]{8}\]/, with: "[ID]")
            }
        }

        func write(_ entry: LoggingMonitor.Entry) { entries.withLock { $0.append(entry) } }
    }

    /// Performs requests and returns their log entries.
    private func recorder(
        _ level: LoggingMonitor.Level = .info, interceptor: (any RequestInterceptor)? = nil,
        answering respond: @escaping @Sendable (MockRequest) async throws -> MockResponse = { _ in .text("hello") },
        _ use: (Session) async -> Void
    ) async -> LogRecorder {
        let recorder = LogRecorder()
        let monitor = LoggingMonitor(level) { recorder.write($0) }
        var configuration = SessionConfiguration.default
        configuration.headers = ["User-Agent": "test"]
        configuration.sensitiveHeaders = ["x-own"]
        let session = Session(
            configuration: configuration, interceptor: interceptor, eventMonitors: [monitor],
            transport: MockTransport(respond))
        await use(session)
        monitor.queue.sync {}
        return recorder
    }

    private func get(_ request: DataRequest) async { _ = await request.serializingResponse(using: Bytes()).response }

    @Test func aRequestIsLoggedInOneLine() async throws {
        let recorder = await recorder { session in
            await get(session.request("http://ada:hush@mock/a?token=hush&b=c"))
        }
        #expect(recorder.lines == ["GET http://***@mock/a?token=***&b=c -> 200, 5 bytes in T ms"])
        let entry = try #require(recorder.all.first)
        #expect(entry.level == .info)
        #expect(entry.details.isEmpty)
        #expect(
            Set(entry.metadata.keys) == ["request", "method", "url", "status", "bytes", "duration", "attempt"])
        #expect(entry.metadata["attempt"] == "1")
        #expect(entry.metadata["url"] == "http://***@mock/a?token=***&b=c")
    }

    @Test func aFailureIsLoggedInTheSameLine() async {
        let interceptor = Scripted(
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        let recorder = await recorder(interceptor: interceptor, answering: { _ in .status(503) }) { session in
            await get(session.request("http://mock/", method: .post) { $0.httpBody = Data("abc".utf8) }.validate())
        }
        #expect(recorder.lines.count == 1)
        let line = recorder.lines.first ?? ""
        #expect(line.hasPrefix("POST http://mock/ -> 503, 0 bytes in T ms, "))
        #expect(line.hasSuffix("1 retry: The response was not acceptable: Its status code is 503."))
        #expect(recorder.all.first?.metadata["attempt"] == "2")
    }

    @Test func unsentRequestsAreLogged() async {
        let recorder = await recorder { session in
            await get(session.request(""))
            await get(session.request("http://mock/") { $0.httpBody = Data("a body in a GET".utf8) })
            let cancelled = session.request("http://mock/").cancel()
            await get(cancelled)
        }
        #expect(recorder.lines.count == 3)
        #expect(recorder.lines[0].hasPrefix("GET without a URL -> no response, after T ms: This is not a URL: "))
        #expect(
            recorder.lines[1].hasPrefix(
                "GET http://mock/ -> no response, after T ms: The request is invalid and was not sent: "))
        #expect(
            recorder.lines[2]
                == "GET without a URL -> no response, after T ms: The request was explicitly cancelled.")
    }

    @Test func serializationFailuresAreDistinguished() async {
        struct Odd: Error {}
        let recorder = await recorder { session in
            let serializer = ClosureResponseSerializer<Int> { _, _, _, _ in throw Odd() }
            _ = await session.request("http://mock/").serializingResponse(using: serializer).response
        }
        #expect(
            recorder.lines == [
                "GET http://mock/ -> 200, 5 bytes in T ms",
                "GET http://mock/ -> 200 was not serialized: The response could not be read: Odd()",
            ])
        #expect(recorder.all.last?.metadata["error"] == "The response could not be read: Odd()")
    }

    @Test func everyStepIsLoggedAtDebugLevel() async {
        let interceptor = Scripted(
            adapting: { urlRequest, answer in
                var urlRequest = urlRequest
                urlRequest.headers.add(.authorization(bearerToken: "hush"))
                answer(.success(urlRequest))
            },
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        let attempts = Locked(0)
        let recorder = await recorder(
            .debug, interceptor: interceptor,
            answering: { _ in
                let isFirst = attempts.withLock { attempts in
                    attempts += 1
                    return attempts == 1
                }
                return isFirst ? .status(503, fields: [.retryAfter: "1"]) : .status(200, fields: [.setCookie: "hush"])
            }
        ) { session in
            _ = await session.request("http://mock/", headers: ["X-Own": "hush"]).validate()
                .serializingResponse(using: ClosureResponseSerializer { _, _, _, _ in 7 }).response
        }
        #expect(
            recorder.lines.filter { !$0.hasPrefix("[ID] metrics") } == [
                "[ID] resumed",
                "[ID] URLRequest created: GET http://mock/",
                "[ID] adapted: GET http://mock/",
                "[ID] sent: GET http://mock/\n  > Authorization: Bearer ***\n  > X-Own: ***",
                "[ID] response: 503\n  < Content-Length: 0\n  < Retry-After: 1",
                "[ID] validation failed: The response was not acceptable: Its status code is 503.",
                "[ID] attempt ended",
                "[ID] retrying",
                "[ID] URLRequest created: GET http://mock/",
                "[ID] adapted: GET http://mock/",
                "[ID] sent: GET http://mock/\n  > Authorization: Bearer ***\n  > X-Own: ***",
                "[ID] response: 200\n  < Content-Length: 0\n  < Set-Cookie: ***",
                "[ID] attempt ended",
                "[ID] GET http://mock/ -> 200, 0 bytes in T ms, 1 retry",
                "[ID] serialized as Int",
            ])
        #expect(recorder.lines.filter { $0.hasPrefix("[ID] metrics: 1 request in T ms\n  * ") }.count == 2)
    }

    @Test func hostileTextCannotStartALine() async {
        let recorder = await recorder(.debug) { session in
            await get(
                session.request("http://mock/") { $0.setValue("\u{1B}[2J", forHTTPHeaderField: "X-Evil") })
            await get(session.request("http://mock/\u{1B}[2J\n"))
        }
        #expect(recorder.all.allSatisfy { !$0.message.contains("\n") && !"\($0)".contains("\u{1B}") })
    }

    @Test func errorsOfValidatorsAreRedacted() async {
        struct Refusal: Error, CustomStringConvertible { let description = "see http://ada:hush@h/?token=hush" }
        let recorder = await recorder(.debug) { session in
            await get(session.request("http://mock/").validate { _, _, _ in .failure(Refusal()) })
        }
        #expect(recorder.lines.contains("[ID] validation failed: see http://***@h/?token=***"))
        #expect(!recorder.all.contains { "\($0) \($0.metadata)".contains("hush") })
    }

    @Test func theEnvironmentChoosesTheLevel() {
        for level in LoggingMonitor.Level.allCases {
            #expect(LoggingMonitor.make(value: level.rawValue)?.level == level)
            #expect(LoggingMonitor.make(value: level.rawValue.uppercased())?.level == level)
        }
        #expect(LoggingMonitor.make(value: nil) == nil)
        #expect(LoggingMonitor.make(value: "") == nil)
    }

    @Test func anUnknownLevelIsReported() {
        let complaints = Locked<[String]>([])
        let monitor = LoggingMonitor.make(value: "verbose\n\u{1B}") { text in complaints.withLock { $0.append(text) } }
        #expect(monitor == nil)
        #expect(
            complaints.withLock { $0 }
                == ["AFAR_LOG has the unknown value \"verbose \\u001B\". Set it to info or debug."])
    }
}
