public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
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
public final class LoggingMonitor: EventMonitor {
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

    /// Logs the outcome of a finished request.
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

    /// Logs a step of a request.
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
        /// Headers and metrics, one per line. Empty for most entries.
        public let details: [String]
        /// The same information as key-value pairs. All entries have `request` (see ``Request/id``) and `attempt` (counted from
        /// 1). The outcome of a request also has `method`, `url`, `duration`, and, if known, `status`, `bytes` and `error`. A
        /// response from the session's cache has `cached` with the value `true`.
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
    /// The monitor that the environment variable `AFAR_LOG` specifies, or nil if it isn't set.
    static let environment: LoggingMonitor? = {
        guard let monitor = make(value: ProcessInfo.processInfo.environment["AFAR_LOG"]) else { return nil }
        // At exit, waits for the last entries.
        atexit { LoggingMonitor.environment?.queue.sync {} }
        return monitor
    }()

    /// - Parameters:
    ///   - value: The value of the variable.
    ///   - reportUnknown: Called with a message if the value is unknown.
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

/// The events of requests.
extension LoggingMonitor {
    // MARK: Life cycle

    /// Logs the event at ``Level/debug``.
    public func requestDidResume(_ request: Request) { logStep(request, "resumed") }
    /// Logs the event at ``Level/debug``.
    public func requestDidSuspend(_ request: Request) { logStep(request, "suspended") }
    /// Logs the event at ``Level/debug``.
    public func requestDidCancel(_ request: Request) { logStep(request, "cancelled") }
    /// Logs the event at ``Level/debug``.
    public func requestIsRetrying(_ request: Request) { logStep(request, "retrying") }
    /// Logs the outcome of the request at ``Level/info``.
    public func requestDidFinish(_ request: Request) { logOutcome(request) }

    // MARK: Creating the request

    /// Logs the event at ``Level/debug``.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        logStep(request, "body created: \(uploadable.logDescription)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        logStep(request, "body creation failed: \(error)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        logStep(request, "URLRequest created: \(urlRequest.line)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        logStep(request, "URLRequest creation failed: \(error)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        logStep(request, "adapted: \(adaptedRequest.line)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        logStep(request, "adaptation failed: \(error)")
    }

    /// Logs the `URLRequest` with its headers at ``Level/debug``.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        logStep(request, "sent: \(urlRequest.line)", lines(urlRequest.headers, of: request, after: ">"))
    }

    // MARK: Completion

    /// Logs the metrics at ``Level/debug``.
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        logStep(request, "metrics: \(metrics.summary)", metrics.transactionMetrics.map { "* \($0)" })
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        logStep(request, error.map { "attempt ended: \($0)" } ?? "attempt ended")
    }

    /// Logs the event at ``Level/debug``.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        logStep(request, "attempt failed: \(error)")
    }

    // MARK: Validation

    /// Logs a failed validation at ``Level/debug``.
    public func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        logValidation(of: request, result)
    }

    /// Logs a failed validation at ``Level/debug``.
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        logValidation(of: request, result)
    }

    /// Logs a failed validation at ``Level/debug``.
    public func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        logValidation(of: request, result)
    }

    private func logValidation(of request: Request, _ result: Request.ValidationResult) {
        if case .failure(let error) = result { logStep(request, "validation failed: \(error.cause)") }
    }

    // MARK: Responses

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        logSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        logSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        logSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``, a successful one at ``Level/debug``.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        logSerialization(of: request, response.result)
    }

    /// Logs a failed serialization at ``Level/info``.
    public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        guard case .failure = result else { return }
        logSerialization(of: request, result)
    }

    /// Logs only the type of the value, because the handler might be using the value.
    private func logSerialization<Value>(of request: Request, _ result: AFResult<Value>) {
        switch result {
        case .success: logStep(request, "serialized as \(Value.self)")
        // Errors of earlier steps have been logged.
        case .failure(let error) where request.error == nil: logOutcome(request, failingWith: error)
        case .failure: break
        }
    }

    // MARK: Downloads

    /// Logs the event at ``Level/debug``.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        logStep(request, "destination: \(url.path)")
    }

    /// Logs the event at ``Level/debug``.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        switch result {
        case .success(let url): logStep(request, "file at \(url.path)")
        case .failure(let error): logStep(request, "moving the file failed: \(error)")
        }
    }
}

extension UploadRequest.Uploadable {
    /// A description of the body for the log.
    fileprivate var logDescription: String {
        switch self {
        case .data(let data): Quantity.bytes(Int64(data.count))
        case .file(let url, _): "the file \(url.path)"
        case .stream: "a stream"
        }
    }
}

/// The events of tasks.
extension LoggingMonitor {
    /// Logs the response's head at ``Level/debug``.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let request = dataTask.afarRequest
        logStep(
            request, "response: \(response.statusCode)",
            lines(response.headers.sorted(), of: request, after: "<"))
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        logStep(task.afarRequest, "redirected (\(response.statusCode)) to \(request.line)")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        logStep(task.afarRequest, "credentials requested (\(challenge.protectionSpace.authenticationMethod))")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        logStep(task.afarRequest, "waiting for connectivity")
    }

    /// Logs the event at ``Level/debug``.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        logStep(downloadTask.afarRequest, "download resumed after \(Quantity.bytes(fileOffset))")
    }
}

// MARK: - Standard error

/// The standard error stream.
package enum StandardError {
    /// Writes text immediately. Failures are ignored, because they can't be reported anywhere.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Writes one of Afar's own messages after the time of day (UTC) and the name `afar`.
    static func writeMessage(_ text: String) {
        write("\(Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))) afar: \(text)\n")
    }
}
