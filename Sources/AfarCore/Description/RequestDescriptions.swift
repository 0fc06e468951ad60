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
    /// The information in `text` as key-value pairs.
    let metadata: [String: String]

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
