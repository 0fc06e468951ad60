public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A monitor that logs the events of requests. At ``Level/info``, it logs one line per finished request. At ``Level/debug``, it
/// also logs each step.
///
/// ```swift
/// let session = Session(eventMonitors: [LoggingMonitor(.debug)])
/// ```
///
/// Passwords, tokens and cookies in headers and URLs are redacted, and bodies aren't logged. To log the requests of every
/// session without changing the program, set the environment variable `AFAR_LOG` to `info` or `debug`. The variable is read
/// once, when the first session is created.
public final class LoggingMonitor: EventReceiver {
    /// The amount of detail to log.
    public let level: Level
    /// The serial queue on which entries are created and written.
    public let queue: DispatchQueue

    private let write: @Sendable (Entry) -> Void

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - level: The amount of detail to log. The default is ``Level/info``.
    ///   - queue: The serial queue on which entries are created and written. The default is a new queue.
    ///   - write: Called with one entry at a time, on `queue`. The default writes to the standard error stream.
    @preconcurrency
    public init(
        _ level: Level = .info,
        queue: DispatchQueue = DispatchQueue(label: "afar.log"),
        write: (@Sendable (_ entry: Entry) -> Void)? = nil
    ) {
        self.level = level
        self.queue = queue
        self.write = write ?? { StandardError.writeMessage("\($0)") }
    }

    func logOutcome(_ request: Request) {
        let summary = RequestSummary(request)
        write(summary.text, of: request, at: .info, metadata: summary.metadata)
    }

    /// Logs the outcome of a finished request whose response couldn't be serialized.
    func logOutcome(_ request: Request, failingWith error: AFError) {
        let summary = RequestSummary(request)
        var metadata = summary.metadata
        metadata["error"] = error.description
        write("\(summary.line) was not serialized: \(error)", of: request, at: .info, metadata: metadata)
    }

    func logStep(
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
        /// Headers and metrics, one per line. Empty for most entries.
        public let details: [String]
        /// The information in `message` as key-value pairs. All entries have `request` (see ``Request/id``) and `attempt`
        /// (counted from 1). The outcome of a request also has `method`, `url`, `duration`, and, if known, `status`, `bytes`
        /// and `error`. A response from the session's cache has `cached` with the value `true`.
        public let metadata: [String: String]
        /// Whether the description identifies the request.
        let namesRequest: Bool
    }
}

extension LoggingMonitor.Entry: CustomStringConvertible {
    /// The message, followed by the details on their own lines. At ``LoggingMonitor/Level/debug``, the text begins with the
    /// first digits of the request's id, because the steps of several requests can be interleaved.
    public var description: String {
        let id = namesRequest ? metadata["request"].map { "[\($0.prefix(8))] " } ?? "" : ""
        return ([id + message] + details.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension LoggingMonitor {
    /// The monitor that the environment variable `AFAR_LOG` specifies, or nil if it isn't set.
    static let environment: LoggingMonitor? = {
        guard let monitor = make(value: ProcessInfo.processInfo.environment["AFAR_LOG"]) else { return nil }
        // At exit, waits for the last entries.
        atexit { LoggingMonitor.environment?.queue.sync {} }
        return monitor
    }()

    static func make(
        value: String?, reportUnknown: (String) -> Void = { StandardError.writeMessage($0) }
    ) -> LoggingMonitor? {
        guard let value, !value.isEmpty else { return nil }
        guard let level = Level(rawValue: value.lowercased()) else {
            let known = Level.allCases.map(\.rawValue).joined(separator: " or ")
            reportUnknown("AFAR_LOG has the unknown value \"\(TerminalText.line(value))\". Set it to \(known).")
            return nil
        }
        return LoggingMonitor(level)
    }
}

// MARK: - Events

extension LoggingMonitor {
    /// Logs the outcome of a request and a failed serialization at ``Level/info``, and other events at ``Level/debug``.
    public func receive(_ event: RequestEvent) {
        if case .requestDidFinish(let request) = event { return logOutcome(request) }
        if case .requestDidParse(let request, let value) = event { return logSerialization(of: request, value) }
        guard level == .debug else { return }
        switch event {
        // Life cycle
        case .requestDidResume(let request): logStep(request, "resumed")
        case .requestDidSuspend(let request): logStep(request, "suspended")
        case .requestDidCancel(let request): logStep(request, "cancelled")
        case .requestIsRetrying(let request): logStep(request, "retrying")

        // Creating the request
        case .requestDidCreateUploadable(let request, let uploadable):
            logStep(request, "body created: \(uploadable.logDescription)")
        case .requestDidFailToCreateUploadable(let request, let error):
            logStep(request, "body creation failed: \(error)")
        case .requestDidCreateInitialURLRequest(let request, let urlRequest):
            logStep(request, "URLRequest created: \(urlRequest.line)")
        case .requestDidFailToCreateURLRequest(let request, let error):
            logStep(request, "URLRequest creation failed: \(error)")
        case .requestDidAdaptInitialRequest(let request, _, let adapted):
            logStep(request, "adapted: \(adapted.line)")
        case .requestDidFailToAdaptURLRequest(let request, _, let error):
            logStep(request, "adaptation failed: \(error)")
        case .requestDidCreateURLRequest(let request, let urlRequest):
            logStep(request, "sent: \(urlRequest.line)", lines(urlRequest.headers, of: request, after: ">"))

        // Waiting, redirects and responses
        case .taskIsWaitingForConnectivity(let task):
            logStep(task.afarRequest, "waiting for connectivity")
        case .taskWillPerformHTTPRedirection(let task, let response, let newRequest):
            logStep(task.afarRequest, "redirected (\(response.statusCode)) to \(newRequest.line)")
        case .taskDidReceiveChallenge(let task, let challenge):
            let method = challenge.protectionSpace.authenticationMethod
            logStep(task.afarRequest, "credentials requested (\(method))")
        case .dataTaskDidReceiveResponse(let task, let response as HTTPURLResponse):
            let request = task.afarRequest
            logStep(
                request, "response: \(response.statusCode)",
                lines(response.headers.sorted(), of: request, after: "<"))

        // Completion
        case .requestDidGatherMetrics(let request, let metrics):
            logStep(request, "metrics: \(metrics.summary)", metrics.transactionMetrics.map { "* \($0)" })
        case .requestDidCompleteTask(let request, _, let error):
            logStep(request, error.map { "attempt ended: \($0)" } ?? "attempt ended")
        case .requestDidFailTask(let request, _, let error):
            logStep(request, "attempt failed: \(error)")
        case .requestDidValidate(let request, _, _, _, .failure(let error)):
            logStep(request, "validation failed: \(error.cause)")

        // Downloads
        case .downloadTaskDidResumeAtOffset(let task, let offset, _):
            logStep(task.afarRequest, "download resumed after \(Quantity.bytes(offset))")
        case .requestDidCreateDestinationURL(let request, let url):
            logStep(request, "destination: \(url.path)")
        case .requestDidFinishDownloading(let request, _, .success(let url)):
            logStep(request, "file at \(url.path)")
        case .requestDidFinishDownloading(let request, _, .failure(let error)):
            logStep(request, "moving the file failed: \(error)")

        default: break
        }
    }

    private func logSerialization(of request: Request, _ value: RequestEvent.ParsedValue) {
        if let error = value.error {
            // The request's own error has already been logged.
            if request.error == nil { logOutcome(request, failingWith: error) }
        } else if !(request is DataStreamRequest) {
            logStep(request, "serialized as \(value.type)")
        }
    }
}

extension UploadRequest.Uploadable {
    fileprivate var logDescription: String {
        switch self {
        case .data(let data): Quantity.bytes(Int64(data.count))
        case .file(let url, _): "the file \(url.path)"
        case .stream: "a stream"
        }
    }
}

// MARK: - Standard error

package enum StandardError {
    /// Writes text immediately. Failures are ignored, because they can't be reported anywhere.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Writes one of Afar's own messages, preceded by the time of day (UTC) and the name `afar`.
    static func writeMessage(_ text: String) {
        write("\(Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))) afar: \(text)\n")
    }
}
