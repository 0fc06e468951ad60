public import AfarTransport
public import Foundation
import HTTPTypes

/// A transport that responds with the entries of an HTTP archive and doesn't use the network.
///
/// ```swift
/// let session = Session(transport: try ReplayTransport(contentsOf: file))
/// ```
///
/// The archive can come from ``RecordingTransport``, a browser or another tool. Responses arrive immediately. A request
/// without a matching entry fails with ``TransportError/Code-swift.struct/invalidUse``, and the error lists the request
/// and the unused entries. A recorded failure is thrown again with its code.
public final class ReplayTransport: Transport {
    /// The rules that determine whether an entry matches a request. Redacted values aren't compared.
    public struct Matching: Sendable, Hashable {
        /// The method, the URL and the body must be equal, and each entry responds to one request. If several entries match,
        /// they respond in order. Multipart boundaries and the order of JSON keys are ignored.
        public static let strict = Matching(isStrict: true)
        /// The method and the URL must be equal. The body and the order of query parameters are ignored. The last matching
        /// entry can respond repeatedly.
        public static let lenient = Matching(isStrict: false)

        let isStrict: Bool
        private(set) var ignoredNames: Set<String> = []

        private init(isStrict: Bool) { self.isStrict = isStrict }

        /// Returns rules that also ignore values with the given names, such as timestamps and nonces. The names apply to URL and
        /// form parameters, multipart parts and JSON keys. Names are case-insensitive.
        public func ignoring(_ names: Set<String>) -> Matching {
            var matching = self
            matching.ignoredNames.formUnion(names)
            return matching
        }
    }

    /// The capabilities of replaying. Exchanges that require other capabilities fail.
    public let capabilities = TransportCapabilities.withoutNetwork(name: "replay")
    private let entries: [HAR.Entry]
    private let keys: [RequestKey]
    private let matching: Matching
    private let redaction: HAR.Redaction
    private let used: Locked<[Bool]>
    private let unanswered = Locked<[String]>([])

    /// Creates a transport that responds from an archive.
    ///
    /// - Parameters:
    ///   - archive: The recorded requests and responses.
    ///   - matching: The rules that match entries to requests. The default is ``Matching/strict``.
    ///   - redaction: The redaction that was used to write the archive. The default is ``HAR/Redaction/secrets``.
    public init(_ archive: HAR, matching: Matching = .strict, redaction: HAR.Redaction = .secrets) {
        // If a browser serves a request locally, it records the request without a response.
        entries = archive.entries.filter { $0.response.status > 0 || $0.failure != nil }
        let redaction = redaction.adding(matching.ignoredNames)
        (self.matching, self.redaction) = (matching, redaction)
        keys = entries.map { entry in
            RequestKey(
                method: entry.request.method, url: entry.request.url,
                body: entry.request.body.map(\.data) ?? Data(), type: entry.request.body?.mimeType ?? "", matching,
                redaction)
        }
        used = Locked(Array(repeating: false, count: entries.count))
    }

    /// Creates a transport that responds from the archive in a file.
    ///
    /// - Throws: ``HAR/FileError``.
    public convenience init(
        contentsOf file: URL, matching: Matching = .strict, redaction: HAR.Redaction = .secrets
    ) throws {
        self.init(try HAR(contentsOf: file), matching: matching, redaction: redaction)
    }

    /// The entries that haven't responded to any request yet.
    public var unusedEntries: [HAR.Entry] {
        zip(entries, used.withLock { $0 }).filter { !$0.1 }.map(\.0)
    }

    /// Descriptions of the requests without a matching entry.
    public var unansweredRequests: [String] { unanswered.withLock { $0 } }

    /// Responds to a request. While the request body is still being produced, cancellation or the total timeout ends the wait.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        typealias Outcome = Result<TransportResponse, any Error>
        let url = exchange.url
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
        guard let data = entry.response.content.data ?? (entry.canLackBody ? Data() : nil) else {
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
        let candidates = keys.indices.filter { keys[$0].matches(key) }
        let index = used.withLock { used -> Int? in
            let index = candidates.first { !used[$0] } ?? (matching.isStrict ? nil : candidates.last)
            if let index { used[index] = true }
            return index
        }
        guard let index else {
            unanswered.withLock { $0.append(key.description) }
            let rest = unusedEntries.prefix(20).map { "\($0.request.method) \($0.request.url)" }
            throw TransportError(
                .invalidUse, phase: .queued, url: exchange.url,
                message: "the recording has no response \(candidates.isEmpty ? "" : "left ")for \(key). "
                    + "Not requested yet: \(rest.isEmpty ? "nothing" : rest.joined(separator: ", "))")
        }
        return entries[index]
    }

    /// `HTTPFields` traps if it contains more than 65,535 fields.
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
    /// Whether the response can lack a body. Tools omit the text of a missing body.
    fileprivate var canLackBody: Bool {
        response.content.text == nil && response.content.comment == nil
            && (response.content.size <= 0 || request.method.uppercased() == "HEAD"
                || (300..<400).contains(response.status))
    }
}

/// The parts of a request that are compared.
private struct RequestKey: Sendable, CustomStringConvertible {
    private let method: String
    private let url: String
    /// The body, or `nil` if it isn't compared.
    private let body: Data?

    /// - Parameter body: The body, or `nil` if it is unknown.
    init(
        method: String, url: String, body: Data?, type: String, _ matching: ReplayTransport.Matching,
        _ redaction: HAR.Redaction
    ) {
        self.method = method.uppercased()
        let redacted = redaction.url(url)
        // Archives can omit the fragment, and the slash of an empty path.
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

    func matches(_ other: RequestKey) -> Bool {
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
    /// Returns whether both texts represent the same JSON value, regardless of the order of keys.
    fileprivate func isSameJSON(as other: Data) -> Bool {
        func value(_ data: Data) -> NSObject? {
            try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject
        }
        guard let own = value(self), let other = value(other) else { return false }
        return own.isEqual(other)
    }
}
