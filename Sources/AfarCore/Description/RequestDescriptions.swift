import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request: CustomStringConvertible, CustomDebugStringConvertible {
    /// The method, the URL and, after a response, its status: "GET https://example.com/ (200)". Passwords and tokens in the URL
    /// are redacted.
    public var description: String {
        guard let urlRequest = performedRequests.last ?? lastRequest else { return "A request without a URLRequest" }
        return responseHead.map { "\(urlRequest.line) (\($0.status))" } ?? urlRequest.line
    }

    /// The state, request, response, error and metrics, on several lines. Secrets are redacted, except in bodies. Bodies are
    /// shown up to a readable length.
    public var debugDescription: String {
        var report = Report(sensitiveHeaders: session.configuration.sensitiveHeaders)
        let retries = retryCount > 0 ? ", \(Quantity.count(retryCount, of: "retry", plural: "retries"))" : ""
        report.add("State", "\(state)\(retries)")
        report.add(performedRequests.last ?? lastRequest)
        report.add(response, body: (self as? DataRequest)?.data)
        report.add("Error", error.map { "\($0)" } ?? "none")
        report.add(metrics)
        return report.text
    }
}

// MARK: - One line

/// The outcome of a request on one line: "GET https://example.com/ -> 200, 1.3 kB in 24.1 ms, 1 retry". For a response from the
/// session's cache, the status is "200 from the cache".
package struct RequestSummary {
    /// The line, with secrets in the URL redacted.
    package let text: String
    /// The beginning of the line: method, URL and status.
    let line: String
    /// The same information as key-value pairs.
    let metadata: [String: String]

    /// - Parameter redaction: The redaction applied to the URL.
    package init(_ request: Request, redaction: Redaction = .standard) {
        let facts = request.mutable.withLock { state in
            (
                urlRequest: state.history.performedRequests.last ?? state.history.requests.last,
                status: state.attempt.head?.status,
                attempt: state.history.attempts.last, start: state.startTime, retries: state.history.retryCount,
                error: state.error
            )
        }
        let method = facts.urlRequest?.httpMethod ?? "GET"
        let url = facts.urlRequest?.url.map { TerminalText.line(redaction.url($0.absoluteString)) } ?? "without a URL"
        let end = facts.attempt?.end.timeIntervalSinceReferenceDate ?? Date.timeIntervalSinceReferenceDate
        let duration = Quantity.milliseconds(facts.start.map { max(0, end - $0) } ?? 0)

        var metadata = ["method": method, "url": url, "duration": duration, "attempt": "\(facts.retries + 1)"]
        metadata["status"] = facts.status.map { "\($0)" }

        var parts: [String] = []
        if let transactions = facts.attempt?.report.transactions {
            let received = transactions.last?.countOfResponseBodyBytesAfterDecoding ?? 0
            metadata["bytes"] = "\(received)"
            parts.append("\(Quantity.bytes(received)) in \(duration)")
            let sent = transactions.last?.countOfRequestBodyBytesSent ?? 0
            if sent > 0 { parts.append("\(Quantity.bytes(sent)) sent") }
        } else {
            parts.append("after \(duration)")
        }
        let redirects = facts.attempt?.metrics.redirectCount ?? 0
        if redirects > 0 { parts.append(Quantity.count(redirects, of: "redirect")) }
        if facts.retries > 0 { parts.append(Quantity.count(facts.retries, of: "retry", plural: "retries")) }
        let isCached = facts.status != nil && facts.attempt?.report.transactions.last?.isFromCache == true
        if isCached { metadata["cached"] = "true" }
        let status = facts.status.map { "\($0)\(isCached ? " from the cache" : "")" }
        line = "\(method) \(url) -> \(status ?? "no response")"
        var text = ([line] + parts).joined(separator: ", ")
        if let error = facts.error {
            metadata["error"] = error.description
            text += ": \(error)"
        }
        self.text = text
        self.metadata = metadata
    }
}

// MARK: - Several lines

/// A multi-line description of a request and its outcome, for debugging. Secrets are redacted, except in bodies. Bodies are shown
/// up to a readable length.
struct Report {
    private(set) var lines: [String] = []
    private let redaction: Redaction

    private static let longestValue = 2000
    private static let indentation = "  "

    /// - Parameter sensitiveHeaders: Additional names of headers to redact.
    init(sensitiveHeaders: Set<String> = []) {
        redaction = Redaction(sensitiveHeaders: sensitiveHeaders)
    }

    var text: String { lines.joined(separator: "\n") }

    /// Adds a name and a value. All lines of the value after the first are indented.
    mutating func add(_ name: String, _ value: String) {
        let shown = value.count > Self.longestValue ? "\(value.prefix(Self.longestValue))…" : value
        let valueLines = TerminalText.safe(shown).split(separator: "\n", omittingEmptySubsequences: false)
        lines.append(valueLines.isEmpty ? "\(name):" : "\(name): \(valueLines[0])")
        lines += valueLines.dropFirst().map { Self.indentation + $0 }
    }

    mutating func add(_ request: URLRequest?) {
        guard let request else { return add("Request", "none") }
        add("Request", request.line)
        add(request.headers)
        if let body = request.httpBody { add(body) }
        if request.httpBodyStream != nil { lines.append("\(Self.indentation)Body: a stream") }
    }

    mutating func add(_ response: HTTPURLResponse?, body: Data? = nil) {
        guard let response else { return add("Response", "none") }
        add("Response", "\(response.statusCode)")
        add(response.headers.sorted())
        if let body { add(body) }
    }

    mutating func add(_ metrics: TaskMetrics?) {
        if let metrics { add("Metrics", metrics.debugDescription) }
    }

    private mutating func add(_ headers: HTTPHeaders) {
        for header in headers {
            let value = redaction.value(header.value, of: header.name)
            lines.append(Self.indentation + TerminalText.line("\(header.name): \(value)"))
        }
    }

    private mutating func add(_ body: Data) {
        let excerpt = BodyExcerpt(body)
        guard let text = excerpt.text else { return lines.append("\(Self.indentation)Body: \(excerpt.size)") }
        lines.append("\(Self.indentation)Body: \(excerpt.size)")
        lines += text.split(separator: "\n", omittingEmptySubsequences: false).map {
            Self.indentation + Self.indentation + $0
        }
    }
}

extension URLRequest {
    /// The method and the URL, without a password.
    var line: String {
        let url = url.map { Redaction.standard.url($0.absoluteString) }
        return TerminalText.line("\(httpMethod ?? "GET") \(url ?? "without a URL")")
    }
}

// MARK: - Bodies

/// A readable excerpt of a body, or only its length if it isn't text.
struct BodyExcerpt {
    /// The length, such as "23 bytes".
    let size: String
    /// The excerpt, or nil if the body is empty or isn't text.
    let text: String?

    private static let longestText = 1000

    init(_ body: Data) {
        size = Quantity.bytes(Int64(body.count))
        // If the limit splits a character, the body would look binary.
        let cut = body.prefix(Self.longestText)
        var start = String(decoding: cut, as: UTF8.self)
        if cut.count < body.count, start.last == "\u{FFFD}" { start.removeLast() }
        guard !start.isEmpty, !TerminalText.isBinary(start) else {
            text = nil
            return
        }
        text = TerminalText.safe(start) + (cut.count < body.count ? "…" : "")
    }
}
