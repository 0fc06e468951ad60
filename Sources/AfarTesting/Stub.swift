public import AfarCore
public import Foundation
public import HTTPTypes

/// The response of a ``MockTransport`` to matching requests.
///
/// ```swift
/// let mock = MockTransport(stubs: [
///     Stub(.get, "https://api.example.com/users/{id}", .status(503), .json(["name": "Ada"])),
///     Stub(.post, "/orders", .status(201)).withBody(.json(["item": 7])),
///     Stub(.get, "/echo/{word}") { request in .text(request.parameters["word"] ?? "") },
/// ])
/// ```
public struct Stub: Sendable {
    /// The HTTP method, or `nil` for any method.
    public let method: HTTPRequest.Method?
    /// The pattern of the URL: a path or a complete URL.
    ///
    /// `{name}` matches one path segment, and a trailing `*` matches any remaining path. A pattern without a query
    /// matches any query. Query parameters match in any order. The schemes `ws` and `wss` mean `http` and `https`.
    public let pattern: String
    private let url: URLPattern
    private var conditions: [Condition] = []
    private let answer: @Sendable (MockRequest, _ number: Int) async throws -> MockResponse

    private struct Condition: Sendable {
        let description: String
        let isMet: @Sendable (MockRequest) -> Bool
    }

    private init(
        _ method: HTTPRequest.Method?, pattern: String,
        answer: @escaping @Sendable (MockRequest, _ number: Int) async throws -> MockResponse
    ) {
        self.method = method
        self.pattern = pattern
        url = URLPattern(pattern)
        self.answer = answer
    }

    /// Creates a stub with fixed responses.
    ///
    /// - Parameters:
    ///   - method: The HTTP method, or `nil` for any method.
    ///   - pattern: A path such as `/users/{id}` or a complete URL. `{name}` matches one path segment, and a trailing
    ///     `*` matches any remaining path. A pattern without a query matches any query.
    ///   - response: The first response.
    ///   - others: The following responses in order. The last one is repeated.
    public init(
        _ method: HTTPRequest.Method?, _ pattern: String, _ response: MockResponse, _ others: MockResponse...
    ) {
        let responses = [response] + others
        self.init(method, pattern: pattern) { _, number in responses[min(number, responses.count - 1)] }
    }

    /// Creates a stub with a closure that returns the responses.
    ///
    /// - Parameters:
    ///   - method: The HTTP method, or `nil` for any method.
    ///   - pattern: A path or a complete URL, with the same placeholders as for fixed responses. The placeholders'
    ///     values are in ``MockRequest/parameters``.
    ///   - answer: The closure to call for each request. Calls can run concurrently. If the closure throws an error, the
    ///     exchange fails.
    public init(_ method: HTTPRequest.Method?, _ pattern: String, _ answer: @escaping MockTransport.Handler) {
        self.init(method, pattern: pattern) { request, _ in try await answer(request) }
    }

    /// Returns a copy of the stub that also requires a matching body.
    public func withBody(_ body: BodyPattern) -> Stub {
        when("with \(body)") { body.matches($0.body) }
    }

    /// Returns a copy of the stub that also requires these decoded query parameters. The request can have other parameters too.
    public func withQuery(_ parameters: [String: String]) -> Stub {
        let wanted = parameters.map { URLQueryItem(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
        let text = wanted.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&")
        return when("with ?\(text)") { request in
            let items = request.query.map(URLPattern.queryItems) ?? []
            return wanted.allSatisfy(items.contains)
        }
    }

    /// Returns a copy of the stub that also requires this header field.
    public func withHeader(_ name: String, _ value: String) -> Stub {
        when("with \(name): \(Redaction.standard.value(value, of: name))") { $0[name] == value }
    }

    /// Returns a copy of the stub that also requires a condition.
    ///
    /// - Parameters:
    ///   - description: A description of the condition, such as "as an administrator". The error for an unmatched request
    ///     contains the description.
    ///   - isMet: A closure that returns whether a request meets the condition.
    public func when(_ description: String, _ isMet: @escaping @Sendable (MockRequest) -> Bool) -> Stub {
        var stub = self
        stub.conditions.append(Condition(description: description, isMet: isMet))
        return stub
    }

    /// Returns the values of the pattern's placeholders.
    ///
    /// - Throws: The reason, if the stub doesn't match the request.
    func match(_ request: MockRequest) throws(StubMismatch) -> [String: String] {
        var request = request
        request.parameters = try url.match(request.url)
        guard method == nil || method == request.method else { throw .method }
        guard url.matchesQuery(of: request.url) else { throw .query }
        for (index, condition) in conditions.enumerated() where !condition.isMet(request) {
            throw .condition(condition.description, after: index)
        }
        return request.parameters
    }

    /// Returns the response to a request. `number` is the number of earlier requests that the stub has matched.
    func response(to request: MockRequest, number: Int) async throws -> MockResponse {
        try await answer(request, number)
    }
}

extension Stub: CustomStringConvertible {
    /// The method, the pattern and the conditions: `POST /orders with the body {"item":7}`.
    public var description: String {
        ([method?.rawValue ?? "any method", pattern] + conditions.map(\.description)).joined(separator: " ")
    }
}

/// A path or a complete URL with placeholders.
private struct URLPattern: Sendable {
    /// A URL or a part of one. It can contain characters that `URL` doesn't accept, such as braces (RFC 3986, appendix
    /// B).
    private struct Reference {
        let scheme, authority, query: Substring?
        let path: Substring

        init(_ text: String) {
            let match = text.prefixMatch(
                of: #/(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?:\/\/([^\/?#]*))?([^?#]*)(?:\?([^#]*))?/#)
            (scheme, authority, path, query) = (match?.1, match?.2, match?.3 ?? "", match?.4)
        }

        /// The scheme in lowercase. The schemes of WebSockets are replaced by those of their handshakes (RFC 6455, section 3).
        var httpScheme: String? {
            let scheme = scheme?.lowercased()
            return scheme == "ws" ? "http" : scheme == "wss" ? "https" : scheme
        }
    }

    private let url: Reference
    private let segments: [Substring]

    init(_ text: String) {
        url = Reference(text)
        segments = Self.segments(of: url)
    }

    /// Returns the values of the placeholders. The query isn't compared.
    func match(_ text: String) throws(StubMismatch) -> [String: String] {
        let other = Reference(text)
        guard url.scheme == nil || url.httpScheme == other.httpScheme,
            url.authority == nil || url.authority?.lowercased() == other.authority?.lowercased()
        else { throw .host }
        let path = Self.segments(of: other)
        let isOpen = segments.last == "*"
        let fixed = isOpen ? segments.dropLast() : segments[...]
        guard isOpen ? path.count >= fixed.count : path.count == fixed.count else { throw .path }
        var parameters: [String: String] = [:]
        for (own, segment) in zip(fixed, path) {
            if own.hasPrefix("{"), own.hasSuffix("}") {
                guard !segment.isEmpty else { throw .path }
                parameters[String(own.dropFirst().dropLast())] = Self.decoded(segment)
            } else if Self.decoded(own) != Self.decoded(segment) {
                throw .path
            }
        }
        return parameters
    }

    func matchesQuery(of text: String) -> Bool {
        url.query == nil || Self.parameters(of: url) == Self.parameters(of: Reference(text))
    }

    static func queryItems(of query: some StringProtocol) -> [URLQueryItem] {
        String(query).replacing("+", with: "%20").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(decoded)
            return URLQueryItem(name: parts[0], value: parts.dropFirst().first)
        }
    }

    private static func decoded(_ text: some StringProtocol) -> String { text.removingPercentEncoding ?? String(text) }

    /// Returns the parameters in a canonical order.
    private static func parameters(of url: Reference) -> [URLQueryItem] {
        queryItems(of: url.query ?? "").sorted { ($0.name, $0.value ?? "") < ($1.name, $1.value ?? "") }
    }

    private static func segments(of url: Reference) -> [Substring] {
        let path = url.path.hasPrefix("/") ? url.path.dropFirst() : url.path
        return path.split(separator: "/", omittingEmptySubsequences: false)
    }
}

/// The requirements of a ``Stub`` for the body of a request.
public struct BodyPattern: Sendable, CustomStringConvertible {
    /// A description of the required body.
    public let description: String
    let matches: @Sendable (Data) -> Bool

    /// Returns a pattern that matches a body with these bytes.
    public static func data(_ data: Data) -> BodyPattern {
        BodyPattern(description: "a specific body of \(data.count) bytes") { $0 == data }
    }

    /// Returns a pattern that matches a body with this text in UTF-8.
    public static func text(_ text: String) -> BodyPattern {
        BodyPattern(description: "the body \(text)") { $0 == Data(text.utf8) }
    }

    /// Returns a pattern that matches a body that contains this text.
    public static func containing(_ part: String) -> BodyPattern {
        BodyPattern(description: "a body containing \(part)") { String(decoding: $0, as: UTF8.self).contains(part) }
    }

    /// Returns a pattern that matches a body with this JSON value, regardless of the order of keys.
    public static func json(_ value: some Encodable & Sendable) -> BodyPattern {
        let encoded = try? JSONEncoder.sortingKeys.encode(value)
        return BodyPattern(
            description:
                "the body \(encoded.map { String(decoding: $0, as: UTF8.self) } ?? "that can't be encoded as JSON")"
        ) { body in
            encoded.map { Self.isSameJSON($0, body) } ?? false
        }
    }

    private static func isSameJSON(_ first: Data, _ second: Data) -> Bool {
        let values = [first, second].map {
            try? JSONSerialization.jsonObject(with: $0, options: .fragmentsAllowed) as? NSObject
        }
        guard let first = values[0], let second = values[1] else { return false }
        return first.isEqual(second)
    }
}

extension MockTransport {
    /// Creates a mock that responds with stubs.
    ///
    /// The first stub that matches a request responds to it. A request without a matching stub fails with
    /// ``TransportError/Code-swift.struct/invalidUse``, and the error lists the request and the stubs.
    ///
    /// - Parameters:
    ///   - capabilities: The capabilities that the mock declares. The default includes everything except raw connections and
    ///     connection policies.
    ///   - delays: The delays to perform. The default is all.
    ///   - stubs: The stubs. If the array is empty, every request fails.
    public convenience init(
        capabilities: TransportCapabilities = .mock, delays: Delays = .scripted, stubs: [Stub]
    ) {
        self.init(capabilities: capabilities, delays: delays, stubs: StubList(stubs))
    }

    /// The stubs that haven't matched any request yet. The array is always empty for a mock with a closure.
    public var unusedStubs: [Stub] { stubs?.unused ?? [] }
}

/// Stubs and the number of requests that each has matched.
final class StubList: Sendable {
    private let stubs: [Stub]
    /// The stubs to use if none of `stubs` matches.
    private let fallback: StubList?
    private let uses: Locked<[Int]>

    init(_ stubs: [Stub], before fallback: StubList? = nil) {
        (self.stubs, self.fallback) = (stubs, fallback)
        uses = Locked(Array(repeating: 0, count: stubs.count))
    }

    var unused: [Stub] { zip(stubs, uses.withLock { $0 }).filter { $0.1 == 0 }.map(\.0) }

    /// Returns the first matching stub's handler, and the request with the values of the stub's placeholders.
    ///
    /// - Throws: An error that describes the request and all stubs, if none matches.
    func match(
        _ request: MockRequest
    ) throws(TransportError) -> (request: MockRequest, handler: MockTransport.Handler) {
        var mismatches: [(stub: Stub, mismatch: StubMismatch)] = []
        guard let match = match(request, &mismatches) else {
            throw TransportError(request, matchesNoneOf: mismatches)
        }
        return match
    }

    private func match(
        _ request: MockRequest, _ mismatches: inout [(stub: Stub, mismatch: StubMismatch)]
    ) -> (request: MockRequest, handler: MockTransport.Handler)? {
        for (index, stub) in stubs.enumerated() {
            var request = request
            do throws(StubMismatch) { request.parameters = try stub.match(request) } catch {
                mismatches.append((stub, error))
                continue
            }
            let number = uses.withLock { uses in
                defer { uses[index] += 1 }
                return uses[index]
            }
            return (request, { try await stub.response(to: $0, number: number) })
        }
        return fallback?.match(request, &mismatches)
    }
}
