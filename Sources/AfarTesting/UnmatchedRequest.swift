import AfarCore
import Foundation
import HTTPTypes

/// The first reason why a stub doesn't match a request.
struct StubMismatch: Error {
    /// The number of requirements that the request meets.
    let closeness: Int
    let reason: String

    static let host = StubMismatch(closeness: 0, reason: "another scheme or host")
    static let path = StubMismatch(closeness: 1, reason: "another path")
    static let method = StubMismatch(closeness: 2, reason: "another method")
    static let query = StubMismatch(closeness: 3, reason: "another query")

    /// - Parameter index: The number of conditions that are met.
    static func condition(_ description: String, after index: Int) -> StubMismatch {
        StubMismatch(closeness: 4 + index, reason: "not \(description)")
    }
}

extension TransportError {
    private static let shownStubs = 10

    /// Creates the error of a request that matches no stub. The message describes the request. It also lists the stubs, the closest
    /// first, and why they don't match.
    init(_ request: MockRequest, matchesNoneOf mismatches: [(stub: Stub, mismatch: StubMismatch)]) {
        let sorted = mismatches.enumerated().sorted {
            ($1.element.mismatch.closeness, $0.offset) < ($0.element.mismatch.closeness, $1.offset)
        }
        var shown = sorted.prefix(Self.shownStubs).map { "\($0.element.stub) (\($0.element.mismatch.reason))" }
        if sorted.count > shown.count { shown.append("and \(sorted.count - shown.count) others") }
        let available = shown.isEmpty ? "no stubs" : shown.joined(separator: ", ")
        // The initializer hides credentials in URLs and escapes control characters.
        self.init(
            .invalidUse, phase: .queued, url: request.url,
            message: "no stub matches \(request.summary). The mock has: \(available)")
    }
}

extension MockRequest {
    /// The method, the URL, the names of the header fields, and at most a kilobyte of the body.
    fileprivate var summary: String {
        var summary = "\(method.rawValue) \(url)"
        if case .connection = exchange.delivery { summary += " for a WebSocket" }
        let names = fields.map(\.name.rawName)
        if !names.isEmpty { summary += ", with the fields \(names.joined(separator: ", "))" }
        guard !body.isEmpty else { return summary }
        let excerpt = Excerpt(body)
        return summary + (excerpt.text.map { ", with the body \($0)" } ?? ", with a body of \(body.count) bytes")
    }
}

extension Stub {
    /// The description on one line, without control characters and without credentials in URLs.
    var safeDescription: String { TerminalText.line(Redaction.standard.text(description)) }
}

/// The first kilobyte of a body or message.
struct Excerpt {
    private static let maximumBytes = 1024

    /// The beginning as text, or `nil` if it isn't text.
    let text: String?

    init(_ body: Data) {
        let start = body.prefix(Self.maximumBytes)
        let isCut = start.count < body.count
        // The limit can divide a character, which has at most four bytes.
        let texts = (0...(isCut ? 3 : 0)).lazy.compactMap { String(validating: start.dropLast($0), as: UTF8.self) }
        guard let text = texts.first, !text.utf8.contains(0) else {
            self.text = nil
            return
        }
        self.text = isCut ? "\(text)… (\(body.count) bytes)" : text
    }
}
