import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A multi-line description of a request and its outcome, for debugging. Secrets are redacted, except in bodies. Bodies are shown
/// up to a readable length.
struct Report {
    private(set) var lines: [String] = []
    private let redaction: Redaction

    private static let longestValue = 2000
    private static let indentation = "  "

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
