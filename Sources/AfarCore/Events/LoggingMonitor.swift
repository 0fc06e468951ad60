public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Logs the events of requests: at ``Level/info`` one line for each when it is over, at ``Level/debug`` also how
/// it got there.
///
/// ```swift
/// let session = Session(eventMonitors: [LoggingMonitor(.debug)])
/// ```
///
/// Passwords, tokens and cookies in headers and URLs are hidden, and bodies are not shown at all. The environment
/// variable `AFAR_LOG`, `info` or `debug`, has every session log without a change to the program; it is read once, when
/// the first session is made.
public final class LoggingMonitor: EventMonitor {
    /// How much is logged.
    public let level: Level
    /// Where entries are made and written, one after the other.
    public let queue: DispatchQueue

    private let write: @Sendable (Entry) -> Void

    /// Makes a monitor.
    ///
    /// - Parameters:
    ///   - level: How much is written down. The default is ``Level/info``.
    ///   - queue: Where entries are made and written. The default is a queue of its own. It must be serial.
    ///   - write: Takes the entries, one at a time, on `queue`. The default is to write them to the standard error stream.
    @preconcurrency
    public init(
        _ level: Level = .info,
        queue: DispatchQueue = DispatchQueue(label: "afar.log"),
        write: (@Sendable (_ entry: Entry) -> Void)? = nil
    ) {
        self.level = level
        self.queue = queue
        self.write = write ?? { StandardError.note("\($0)") }
    }

    /// Notes that a request is over.
    func conclude(_ request: Request) {
        let summary = RequestSummary(request)
        write(summary.text, of: request, at: .info, metadata: summary.metadata)
    }

    /// Notes that a request is over whose response could not be made a value.
    func conclude(_ request: Request, failingWith error: AFError) {
        let summary = RequestSummary(request)
        var metadata = summary.metadata
        metadata["error"] = error.description
        write("\(summary.line) was not serialized: \(error)", of: request, at: .info, metadata: metadata)
    }

    /// Notes a step on the way.
    func note(
        _ request: Request?, _ message: @autoclosure () -> String, _ details: @autoclosure () -> [String] = []
    ) {
        guard level == .debug, let request else { return }
        write(
            message(), details: details(), of: request, at: .debug,
            metadata: ["attempt": "\(request.retryCount + 1)"])
    }

    private func write(
        _ message: String, details: [String] = [], of request: Request, at level: Level, metadata: [String: String]
    ) {
        write(
            Entry(
                level: level, message: Redaction.standard.line(message), details: details.map(TerminalText.line),
                metadata: metadata.merging(["request": request.id.uuidString]) { old, _ in old },
                namesRequest: self.level == .debug))
    }

    /// Headers, one a line.
    func lines(_ headers: HTTPHeaders, of request: Request?, after mark: String) -> [String] {
        let redaction = Redaction(sensitiveHeaders: request?.session.configuration.sensitiveHeaders ?? [])
        return headers.map { "\(mark) \($0.name): \(redaction.value($0.value, of: $0.name))" }
    }
}

extension LoggingMonitor {
    /// How much a monitor logs.
    public enum Level: String, Sendable, CaseIterable {
        /// One line for each request, when it is over.
        case info
        /// Every step of every attempt too, with the headers.
        case debug
    }
}

extension LoggingMonitor {
    /// One thing that happened.
    public struct Entry: Sendable {
        /// ``Level/info`` for what came of a request, ``Level/debug`` for the steps on the way.
        public let level: Level
        /// What happened, in one line: "GET https://example.com/ -> 200, 1.3 kB in 24.1 ms".
        public let message: String
        /// Headers and metrics, one a line; empty for most entries.
        public let details: [String]
        /// The facts by name. All entries have `request` (see ``Request/id``) and `attempt` (counted from 1); what came of
        /// a request has also `method`, `url`, `duration`, and where they are known `status`, `bytes` and `error`. A response
        /// of the session's cache has `cached`, which is `true`.
        public let metadata: [String: String]
        /// Whether the description tells which request is meant.
        let namesRequest: Bool
    }
}

extension LoggingMonitor.Entry: CustomStringConvertible {
    /// The message and the details in lines of their own. Where steps are told, it begins with the first digits of the
    /// request's id, as the steps of several requests mingle.
    public var description: String {
        let id = namesRequest ? metadata["request"].map { "[\($0.prefix(8))] " } ?? "" : ""
        return ([id + message] + details.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension LoggingMonitor {
    /// The monitor that the environment variable `AFAR_LOG` asks for; nil when it is not set.
    static let environment: LoggingMonitor? = {
        guard let monitor = make(asked: ProcessInfo.processInfo.environment["AFAR_LOG"]) else { return nil }
        // What is noted is written by a queue. A program that ends just now waits for it.
        atexit { LoggingMonitor.environment?.queue.sync {} }
        return monitor
    }()

    /// - Parameters:
    ///   - value: What the variable is set to.
    ///   - complain: Called with a message when the value is unknown.
    static func make(
        asked value: String?, complain: (String) -> Void = { StandardError.note($0) }
    ) -> LoggingMonitor? {
        guard let value, !value.isEmpty else { return nil }
        guard let level = Level(rawValue: value.lowercased()) else {
            let known = Level.allCases.map(\.rawValue).joined(separator: " or ")
            complain("AFAR_LOG is \"\(TerminalText.line(value))\", which means nothing. Set it to \(known).")
            return nil
        }
        return LoggingMonitor(level)
    }
}
