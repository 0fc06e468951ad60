public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A monitor that logs the events of requests: at ``Level/info`` one line per finished request, at ``Level/debug`` also each
/// step.
///
/// ```swift
/// let session = Session(eventMonitors: [LoggingMonitor(.debug)])
/// ```
///
/// Passwords, tokens and cookies in headers and URLs are redacted, and bodies aren't logged. To make every session log without
/// changing the program, set the environment variable `AFAR_LOG` to `info` or `debug`. It is read once, when the first session is
/// created.
public final class LoggingMonitor: EventMonitor {
    /// The amount of detail that is logged.
    public let level: Level
    /// The serial queue on which entries are created and written.
    public let queue: DispatchQueue

    private let write: @Sendable (Entry) -> Void

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - level: The amount of detail that is logged. The default is ``Level/info``.
    ///   - queue: The queue on which entries are created and written. It must be serial. The default is a new queue.
    ///   - write: Called with one entry at a time, on `queue`. The default writes to the standard error stream.
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

    /// Logs the outcome of a finished request.
    func conclude(_ request: Request) {
        let summary = RequestSummary(request)
        write(summary.text, of: request, at: .info, metadata: summary.metadata)
    }

    /// Logs the outcome of a finished request whose response couldn't be serialized.
    func conclude(_ request: Request, failingWith error: AFError) {
        let summary = RequestSummary(request)
        var metadata = summary.metadata
        metadata["error"] = error.description
        write("\(summary.line) was not serialized: \(error)", of: request, at: .info, metadata: metadata)
    }

    /// Logs a step of a request.
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

    /// Returns one line per header.
    func lines(_ headers: HTTPHeaders, of request: Request?, after mark: String) -> [String] {
        let redaction = Redaction(sensitiveHeaders: request?.session.configuration.sensitiveHeaders ?? [])
        return headers.map { "\(mark) \($0.name): \(redaction.value($0.value, of: $0.name))" }
    }
}

extension LoggingMonitor {
    /// The amount of detail that a monitor logs.
    public enum Level: String, Sendable, CaseIterable {
        /// One line per request, when it has finished.
        case info
        /// Also every step of every attempt, with the headers.
        case debug
    }
}

extension LoggingMonitor {
    /// A log entry.
    public struct Entry: Sendable {
        /// ``Level/info`` for the outcome of a request, ``Level/debug`` for its steps.
        public let level: Level
        /// The event on one line: "GET https://example.com/ -> 200, 1.3 kB in 24.1 ms".
        public let message: String
        /// Headers and metrics, one per line; empty for most entries.
        public let details: [String]
        /// The facts by name. All entries have `request` (see ``Request/id``) and `attempt` (counted from 1). The outcome of a
        /// request also has `method`, `url`, `duration`, and, if known, `status`, `bytes` and `error`. A response from the
        /// session's cache has `cached` with the value `true`.
        public let metadata: [String: String]
        /// Whether the description identifies the request.
        let namesRequest: Bool
    }
}

extension LoggingMonitor.Entry: CustomStringConvertible {
    /// The message, followed by the details on their own lines. At ``LoggingMonitor/Level/debug``, it begins with the first
    /// digits of the request's id, because the steps of several requests can be interleaved.
    public var description: String {
        let id = namesRequest ? metadata["request"].map { "[\($0.prefix(8))] " } ?? "" : ""
        return ([id + message] + details.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension LoggingMonitor {
    /// The monitor that the environment variable `AFAR_LOG` specifies; nil if it isn't set.
    static let environment: LoggingMonitor? = {
        guard let monitor = make(asked: ProcessInfo.processInfo.environment["AFAR_LOG"]) else { return nil }
        // The queue writes asynchronously; an exiting program waits for the last entries.
        atexit { LoggingMonitor.environment?.queue.sync {} }
        return monitor
    }()

    /// - Parameters:
    ///   - value: The value of the variable.
    ///   - complain: Called with a message if the value is unknown.
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
