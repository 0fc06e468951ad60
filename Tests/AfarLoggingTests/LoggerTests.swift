import AfarCore
import AfarLogging
import AfarTesting
import Foundation
import Logging
import Testing

/// The entries in a swift-log logger.
@Suite struct LoggerTests {
    /// Stores log entries.
    private final class LogRecorder: Sendable {
        struct Entry: Sendable {
            var level: Logger.Level
            var message: String
            var metadata: Logger.Metadata
        }

        private let entries = Locked<[Entry]>([])

        var all: [Entry] { entries.withLock { $0 } }
        func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            recorder.add(.init(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
        }
    }

    /// Makes a request and returns the log entries.
    private func entries(_ level: Logger.Level) async throws -> [LogRecorder.Entry] {
        let recorder = LogRecorder()
        let logger = Logger(label: "test") { _ in Handler(recorder: recorder, logLevel: level) }
        let monitor = LoggingMonitor(logger: logger)
        let session = Session(eventMonitors: [monitor], transport: MockTransport { _ in .text("no", status: 404) })
        let request = session.request("http://ada:hush@mock/a?token=hush", headers: ["Cookie": "hush"]).validate()
        _ = await request.serializingResponse(using: ClosureResponseSerializer { _, _, _, _ in 1 }).response
        monitor.queue.sync {}
        return recorder.all
    }

    @Test func aRequestIsOneEntryWithItsFacts() async throws {
        let entries = try await entries(.info)
        #expect(entries.count == 1)
        let entry = try #require(entries.first)
        #expect(entry.level == .info)
        #expect(entry.message.hasPrefix("GET http://***@mock/a?token=*** -> 404, "))
        let known: Logger.Metadata = [
            "method": "GET", "url": "http://***@mock/a?token=***", "status": "404", "attempt": "1",
        ]
        for (name, value) in known { #expect(entry.metadata[name] == value) }
        #expect(entry.metadata["error"] == "The response was not acceptable: Its status code is 404.")
        #expect(entry.metadata["duration"]?.description.hasSuffix(" ms") == true)
        #expect(entry.metadata["request"] != nil)
    }

    @Test func theLoggersLevelDeterminesTheEntries() async throws {
        let entries = try await entries(.debug)
        #expect(entries.count > 3)
        #expect(entries.filter { $0.level == .info }.count == 1)
        #expect(entries.allSatisfy { !"\($0.message) \($0.metadata)".contains("hush") })
        #expect(entries.contains { "\($0.metadata["details"] ?? "")".contains("> Cookie: ***") })
    }
}
