import Afar
import AfarCore
import AfarHAR
import Foundation
import HTTPTypes

/// A request as it was sent.
struct SentRequest: Sendable {
    var head: SentHead
    var body: RequestBody

    /// The type in the `Content-Type` field.
    var mediaType: MediaType { MediaType(contentType ?? "") }

    var contentType: String? { head.fields.first { $0.name.lowercased() == "content-type" }?.value }
}

/// The last request that was sent.
final class SentRequestRecord: Sendable {
    private let request = Locked<SentRequest?>(nil)

    var last: SentRequest? { request.withLock { $0 } }

    func set(_ new: SentRequest) { request.withLock { $0 = new } }
}

/// Formats requests: for reading on a terminal, or with the body's exact bytes for a pipe.
struct RequestPrinter {
    /// The longest body that ``loggedBody(of:_:_:)`` contains, in bytes.
    private static let longestLoggedBody = 64 * 1024

    let parts: OutputParts
    let style: Style
    let redaction: Redaction

    /// Returns the selected parts of a request, with an empty line between the request and what follows it.
    func text(of request: SentRequest) -> Data {
        var text = Data()
        if parts.contains(.requestHead) { text += Data(head(of: request).utf8) }
        guard parts.contains(.requestBody), let bytes = Self.bytes(of: request.body), !bytes.isEmpty else {
            return text
        }
        text += body(bytes, of: request)
        let isLast = parts.isDisjoint(with: [.responseHead, .responseBody, .metadata])
        if !isLast { text += Data(text.last == UInt8(ascii: "\n") ? "\n".utf8 : "\n\n".utf8) }
        return text
    }

    /// Returns the request line and the fields.
    func head(of request: SentRequest) -> String {
        (Self.lines(of: request.head, style, redaction) + ["", ""]).joined(separator: "\n")
    }

    /// Returns a body: formatted for a terminal and without secrets, or unchanged.
    func body(_ bytes: Data, of request: SentRequest) -> Data {
        guard style.isPretty else { return bytes }
        guard let text = Self.text(of: bytes, request, redaction) else {
            return Data(Self.summary(Int64(bytes.count), request, style).utf8)
        }
        return Data(BodyText.readable(text, request.mediaType, style).utf8)
    }

    /// Returns the request line and the fields, one element for each line. Control characters are visible in a pretty style.
    static func lines(of head: SentHead, _ style: Style, _ redaction: Redaction) -> [String] {
        func safe(_ text: String) -> String { style.isPretty ? TerminalText.line(text) : text }
        let target = style.paint(safe("\(head.method) \(redaction.url(head.target))"), .bold)
        let fields = head.fields.map { field in
            "\(style.paint(safe(field.name), .cyan)): \(safe(redaction.value(field.value, of: field.name)))"
        }
        return [head.version.map { "\(target) \(safe($0))" } ?? target] + fields
    }

    /// Returns whether the redaction changes a head.
    static func hidesSecrets(of head: SentHead, _ redaction: Redaction) -> Bool {
        lines(of: head, .plain, redaction) != lines(of: head, .plain, Redaction(showsSecrets: true))
    }

    /// Returns whether ``text(of:)`` hides secrets.
    func hidesSecrets(of request: SentRequest) -> Bool {
        if parts.contains(.requestHead), Self.hidesSecrets(of: request.head, redaction) { return true }
        guard style.isPretty, parts.contains(.requestBody), let bytes = Self.bytes(of: request.body) else {
            return false
        }
        return hidesSecrets(in: bytes, of: request)
    }

    /// Returns whether ``body(_:of:)`` hides secrets.
    func hidesSecrets(in bytes: Data, of request: SentRequest) -> Bool {
        guard style.isPretty, let text = Self.text(of: bytes, request, redaction) else { return false }
        return !text.utf8.elementsEqual(bytes)
    }

    /// Returns a body for a log, or its size if it is long, binary or not in memory. Returns an empty string if there is no body.
    ///
    /// Secrets are hidden. The text is indented in a pretty style, and otherwise unchanged.
    static func loggedBody(of request: SentRequest, _ style: Style, _ redaction: Redaction) -> String {
        if request.body.isNone || request.body.length == 0 { return "" }
        guard let length = request.body.length, length <= longestLoggedBody, let bytes = bytes(of: request.body),
            let text = text(of: bytes, request, redaction)
        else { return summary(request.body.length, request, style) }
        if style.isPretty { return BodyText.readable(text, request.mediaType, style) }
        return text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n"
    }

    /// Returns a body as text without secrets, or nil if it's binary.
    private static func text(of bytes: Data, _ request: SentRequest, _ redaction: Redaction) -> String? {
        let shown = redaction.body(bytes, type: request.contentType ?? "")
        guard let text = String(data: shown, encoding: .utf8), !TerminalText.isBinary(text) else { return nil }
        return text
    }

    private static func summary(_ length: Int64?, _ request: SentRequest, _ style: Style) -> String {
        let summary = length.map { BodyText.summary($0, type: request.contentType) } ?? "a body of unknown length"
        return style.paint("(\(summary))", .dim) + "\n"
    }

    /// Returns a body that is in memory or in a file; nil if it can't be read again.
    private static func bytes(of body: RequestBody) -> Data? {
        switch body {
        case .none: nil
        case .data(let data): data
        case .file(let url): try? Data(contentsOf: url)
        case .stream: nil
        }
    }
}

/// The elapsed time and the size of an exchange.
enum ExchangeFacts {
    /// Returns one line for each fact.
    static func text(of request: Request, _ style: Style) -> String {
        let size = request.metrics?.transactionMetrics.last?.countOfResponseBodyBytesAfterDecoding ?? 0
        let facts = [
            ("Elapsed time", Quantity.milliseconds(request.metrics?.taskInterval.duration ?? 0)),
            ("Size", Quantity.bytes(size)),
        ]
        return facts.map { "\(style.paint($0, .cyan)): \($1)\n" }.joined()
    }
}

extension Redaction {
    /// Returns a body in which the values of secret fields, parts, members, elements and attributes, and secrets in URLs are hidden.
    ///
    /// - Parameter type: The value of `Content-Type`, or an empty string.
    func body(_ data: Data, type: String) -> Data {
        let showsSecrets = credential("") == ""
        guard !showsSecrets else { return data }
        let hidden = HAR.Redaction.secrets.body(data, type: type)
        guard let text = String(data: hidden, encoding: .utf8) else { return hidden }
        let isForm = MediaType(type).essence == "application/x-www-form-urlencoded"
        return Data((isForm ? String(url("?\(text)").dropFirst()) : self.text(text)).utf8)
    }
}
