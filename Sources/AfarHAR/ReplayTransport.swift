public import AfarTransport
public import Foundation
import HTTPTypes

/// A transport that answers requests with what an HTTP archive has for them, and reaches no network.
///
/// ```swift
/// let session = Session(transport: try ReplayTransport(contentsOf: file))
/// ```
///
/// The archive may be one of ``RecordingTransport``, or one that a browser or another tool has written. Responses come at
/// once. A request for which there is nothing fails with ``TransportError/Code-swift.struct/invalidUse``, and the error names
/// what was asked and what there is. A failure that was recorded is thrown again, with its code.
public final class ReplayTransport: Transport {
    /// When an entry fits a request. What is redacted in the archive is left out of the comparison.
    public struct Matching: Sendable, Hashable {
        /// The method, the URL and the body are the same; each entry answers one request, in order where several fit. JSON is
        /// the same in whatever order its keys stand, and a multipart body with whatever boundary.
        public static let strict = Matching(isStrict: true)
        /// The method and the URL are the same, but for the order of its query; bodies do not count. The last entry that fits
        /// answers again.
        public static let lenient = Matching(isStrict: false)

        let isStrict: Bool
        private(set) var ignoredNames: Set<String> = []

        private init(isStrict: Bool) { self.isStrict = isStrict }

        /// The same, but the values of these parameters of URLs and forms, parts of multipart bodies and keys of JSON do not
        /// count: times, random numbers. Case does not matter.
        public func ignoring(_ names: Set<String>) -> Matching {
            var matching = self
            matching.ignoredNames.formUnion(names)
            return matching
        }
    }

    /// What replaying can do, and refuses to do otherwise.
    public let capabilities = TransportCapabilities.withoutNetwork(name: "replay")
    private let entries: [HAR.Entry]
    private let keys: [RequestKey]
    private let matching: Matching
    private let redaction: HAR.Redaction
    private let used: Guarded<[Bool]>
    private let unanswered = Guarded<[String]>([])

    /// Answers with an archive.
    ///
    /// - Parameters:
    ///   - archive: Requests and their responses.
    ///   - matching: When an entry fits a request. The default is ``Matching/strict``.
    ///   - redaction: What was hidden when the archive was written. The default is ``HAR/Redaction/secrets``.
    public init(_ archive: HAR, matching: Matching = .strict, redaction: HAR.Redaction = .secrets) {
        // What a browser answered by itself was never a response.
        entries = archive.entries.filter { $0.response.status > 0 || $0.failure != nil }
        let redaction = redaction.adding(matching.ignoredNames)
        (self.matching, self.redaction) = (matching, redaction)
        keys = entries.map { entry in
            RequestKey(
                method: entry.request.method, url: entry.request.url,
                body: entry.request.body.map(\.data) ?? Data(), type: entry.request.body?.mimeType ?? "", matching,
                redaction)
        }
        used = Guarded(Array(repeating: false, count: entries.count))
    }

    /// Answers with the archive in a file.
    ///
    /// - Throws: A ``HAR/FileError``.
    public convenience init(
        contentsOf file: URL, matching: Matching = .strict, redaction: HAR.Redaction = .secrets
    ) throws {
        self.init(try HAR(contentsOf: file), matching: matching, redaction: redaction)
    }

    /// The entries that have answered no request so far.
    public var unusedEntries: [HAR.Entry] {
        zip(entries, used.withLock { $0 }).filter { !$0.1 }.map(\.0)
    }

    /// The requests for which there was nothing, in words.
    public var unansweredRequests: [String] { unanswered.withLock { $0 } }

    /// Answers a request. Cancelling it, and its total timeout, end the waiting for a body that is still being made.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        typealias Outcome = Result<TransportResponse, any Error>
        let url = exchange.url
        // The first outcome counts.
        let (outcomes, outcome) = AsyncStream<Outcome>.makeStream(bufferingPolicy: .bufferingOldest(1))
        @Sendable func failure(_ code: TransportError.Code, _ message: String) -> Outcome {
            .failure(TransportError(code, phase: .sending, url: url, message: message))
        }
        let cancelled = failure(.cancelled, "the exchange was cancelled")
        let answer = Task {
            do { outcome.yield(.success(try await self.answer(exchange))) } catch { outcome.yield(.failure(error)) }
        }
        let timeout = exchange.options.totalTimeout
        let timer = Task {
            guard timeout < 1e9, (try? await Task.sleep(for: .seconds(max(0, timeout)))) != nil else { return }
            outcome.yield(failure(.timedOut, "it took longer than the total timeout, \(timeout) s"))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            let result = await outcomes.first { _ in true }
            answer.cancel()
            return try (result ?? cancelled).get()
        } onCancel: {
            outcome.yield(cancelled)
            answer.cancel()
        }
    }

    private func answer(_ exchange: Exchange) async throws -> TransportResponse {
        let body = try await exchange.collectBody()
        let entry = try take(for: exchange, body)
        if let failure = entry.failure, entry.response.status == 0 {
            throw TransportError(
                TransportError.Code(failure) ?? .unknown, phase: .awaitingResponse, url: exchange.url,
                message: "the recorded request failed (\(failure))")
        }
        guard let data = entry.response.content.data ?? (entry.mayLackBody ? Data() : nil) else {
            throw TransportError(
                .bodyIncomplete, phase: .receiving, url: exchange.url,
                message: "the recording has no body for \(exchange.request.method.rawValue) \(exchange.url)")
        }
        return try await deliver(entry, data, to: exchange)
    }

    private func take(for exchange: Exchange, _ body: Data) throws -> HAR.Entry {
        let key = RequestKey(
            method: exchange.request.method.rawValue, url: exchange.url, body: body,
            type: exchange.fields[.contentType] ?? "", matching, redaction)
        let fitting = keys.indices.filter { keys[$0].fits(key) }
        let index = used.withLock { used -> Int? in
            let index = fitting.first { !used[$0] } ?? (matching.isStrict ? nil : fitting.last)
            if let index { used[index] = true }
            return index
        }
        guard let index else {
            unanswered.withLock { $0.append(key.description) }
            let rest = unusedEntries.prefix(20).map { "\($0.request.method) \($0.request.url)" }
            throw TransportError(
                .invalidUse, phase: .queued, url: exchange.url,
                message: "the recording has no answer \(fitting.isEmpty ? "" : "left ")for \(key). "
                    + "Not asked for yet: \(rest.isEmpty ? "nothing" : rest.joined(separator: ", "))")
        }
        return entries[index]
    }

    /// `HTTPFields` holds no more than 65,535, and traps beyond.
    private static let largestFieldCount = 65_000

    private func deliver(_ entry: HAR.Entry, _ data: Data, to exchange: Exchange) async throws -> TransportResponse {
        guard entry.response.headers.count <= Self.largestFieldCount else {
            throw TransportError(
                .headTooLarge, phase: .receiving, url: exchange.url,
                message: "the recorded response has more than \(Self.largestFieldCount) fields")
        }
        var fields = HTTPFields()
        for field in entry.response.headers {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(HTTPField(name: name, value: field.value))
        }
        let head = ResponseHead(
            status: entry.response.status, httpVersion: entry.response.httpVersion, fields: fields,
            url: exchange.responseURL)
        return try await exchange.answer(with: head, body: data)
    }
}

extension HAR.Entry {
    /// Whether its response may have no body, so that tools leave the text out.
    fileprivate var mayLackBody: Bool {
        response.content.text == nil && response.content.comment == nil
            && (response.content.size <= 0 || request.method.uppercased() == "HEAD"
                || (300..<400).contains(response.status))
    }
}

/// What of a request is compared.
private struct RequestKey: Sendable, CustomStringConvertible {
    private let method: String
    private let url: String
    /// Nil when it does not count.
    private let body: Data?

    /// - Parameter body: Nil when it is not known.
    init(
        method: String, url: String, body: Data?, type: String, _ matching: ReplayTransport.Matching,
        _ redaction: HAR.Redaction
    ) {
        self.method = method.uppercased()
        let redacted = redaction.url(url)
        // Of an archive it is not known whether it has a `URL` or what was sent.
        var parts = URL(keepingEscapesOf: redacted).flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        parts?.fragment = nil
        if parts?.percentEncodedPath.isEmpty == true { parts?.percentEncodedPath = "/" }
        if matching.isStrict {
            let body = body.map { redaction.body($0, type: type) }
            self.body = body.map { MultipartBoundary(type)?.removed(from: $0) ?? $0 }
        } else {
            let query = parts?.percentEncodedQuery?.split(separator: "&").sorted().joined(separator: "&")
            parts?.percentEncodedQuery = query
            self.body = nil
        }
        self.url = parts?.string ?? String(redacted.prefix { $0 != "#" })
    }

    func fits(_ other: RequestKey) -> Bool {
        guard method == other.method, url == other.url else { return false }
        guard let body, let otherBody = other.body, body != otherBody else { return true }
        return body.isSameJSON(as: otherBody)
    }

    var description: String {
        let text = body.flatMap { $0.isEmpty ? nil : String(decoding: $0.prefix(200), as: UTF8.self) }
        return "\(method) \(url)\(text.map { " with the body \($0)" } ?? "")"
    }
}

extension Data {
    /// Whether two texts are the same JSON, in whatever order their keys stand.
    fileprivate func isSameJSON(as other: Data) -> Bool {
        func value(_ data: Data) -> NSObject? {
            try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject
        }
        guard let own = value(self), let other = value(other) else { return false }
        return own.isEqual(other)
    }
}
