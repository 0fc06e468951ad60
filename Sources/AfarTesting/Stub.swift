public import AfarCore
public import Foundation
public import HTTPTypes

/// What a ``MockTransport`` answers to requests of one kind.
///
/// ```swift
/// let mock = MockTransport(stubs: [
///     Stub(.get, "https://api.example.com/users/{id}", .status(503), .json(["name": "Ada"])),
///     Stub(.post, "/orders", .status(201)).withBody(.json(["item": 7])),
///     Stub(.get, "/echo/{word}") { request in .text(request.parameters["word"] ?? "") },
/// ])
/// ```
public struct Stub: Sendable {
    /// The method; nil for any.
    public let method: HTTPRequest.Method?
    /// The URL's pattern: a path, or a whole URL. `{name}` stands for one segment of the path, a last `*` for any rest of it.
    /// Without a query it fits any; the parameters of one may come in any order.
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

    /// Makes a stub of responses.
    ///
    /// - Parameters:
    ///   - method: The method; nil for any.
    ///   - pattern: A path such as `/users/{id}`, or a whole URL. `{name}` stands for one segment of the path, a last `*` for
    ///     any rest of it. Without a query it fits any.
    ///   - response: The first response.
    ///   - others: The following ones, in order. The last stays.
    public init(
        _ method: HTTPRequest.Method?, _ pattern: String, _ response: MockResponse, _ others: MockResponse...
    ) {
        let responses = [response] + others
        self.init(method, pattern: pattern) { _, number in responses[min(number, responses.count - 1)] }
    }

    /// Makes a stub whose responses depend on the requests.
    ///
    /// - Parameters:
    ///   - method: The method; nil for any.
    ///   - pattern: As for a stub of responses; ``MockRequest/parameters`` has what stands for its places.
    ///   - answer: Called for each request; many calls may run at once. What it throws fails the exchange.
    public init(_ method: HTTPRequest.Method?, _ pattern: String, _ answer: @escaping MockTransport.Handler) {
        self.init(method, pattern: pattern) { request, _ in try await answer(request) }
    }

    /// The same for requests with such a body only.
    public func withBody(_ body: BodyPattern) -> Stub {
        when("with \(body)") { body.matches($0.body) }
    }

    /// The same for requests only whose URL has these parameters, among others or not, decoded.
    public func withQuery(_ parameters: [String: String]) -> Stub {
        let wanted = parameters.map { URLQueryItem(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
        let text = wanted.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&")
        return when("with ?\(text)") { request in
            let items = request.query.map(URLPattern.queryItems) ?? []
            return wanted.allSatisfy(items.contains)
        }
    }

    /// The same for requests only with this header field.
    public func withHeader(_ name: String, _ value: String) -> Stub {
        when("with \(name): \(value)") { $0[name] == value }
    }

    /// The same for requests only that meet a condition.
    ///
    /// - Parameters:
    ///   - description: What it is about, for the error of a request that nothing fits: "as an administrator".
    ///   - isMet: Whether a request meets it.
    public func when(_ description: String, _ isMet: @escaping @Sendable (MockRequest) -> Bool) -> Stub {
        var stub = self
        stub.conditions.append(Condition(description: description, isMet: isMet))
        return stub
    }

    /// What stands for the places of the pattern, when the stub fits a request.
    func match(_ request: MockRequest) -> [String: String]? {
        guard method == nil || method == request.method, let parameters = url.match(request.url) else { return nil }
        var request = request
        request.parameters = parameters
        return conditions.allSatisfy { $0.isMet(request) } ? parameters : nil
    }

    /// The response to a request that has this number among those the stub answers, from 0.
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

/// A path, or a whole URL, with places for anything.
private struct URLPattern: Sendable {
    /// A URL or a part of one, with characters such as braces that `URL` doesn't accept (RFC 3986, appendix B).
    private struct Reference {
        let scheme, authority, query: Substring?
        let path: Substring

        init(_ text: String) {
            let match = text.prefixMatch(
                of: #/(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?:\/\/([^\/?#]*))?([^?#]*)(?:\?([^#]*))?/#)
            (scheme, authority, path, query) = (match?.1, match?.2, match?.3 ?? "", match?.4)
        }
    }

    private let url: Reference
    private let segments: [Substring]

    init(_ text: String) {
        url = Reference(text)
        segments = Self.segments(of: url)
    }

    /// What stands for the places, when a URL fits.
    func match(_ text: String) -> [String: String]? {
        let other = Reference(text)
        guard url.scheme == nil || url.scheme?.lowercased() == other.scheme?.lowercased(),
            url.authority == nil || url.authority?.lowercased() == other.authority?.lowercased(),
            url.query == nil || Self.parameters(of: url) == Self.parameters(of: other)
        else { return nil }
        let path = Self.segments(of: other)
        let isOpen = segments.last == "*"
        let fixed = isOpen ? segments.dropLast() : segments[...]
        guard isOpen ? path.count >= fixed.count : path.count == fixed.count else { return nil }
        var parameters: [String: String] = [:]
        for (own, segment) in zip(fixed, path) {
            if own.hasPrefix("{"), own.hasSuffix("}") {
                guard !segment.isEmpty else { return nil }
                parameters[String(own.dropFirst().dropLast())] = Self.decoded(segment)
            } else if Self.decoded(own) != Self.decoded(segment) {
                return nil
            }
        }
        return parameters
    }

    static func queryItems(of query: some StringProtocol) -> [URLQueryItem] {
        String(query).replacing("+", with: "%20").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(decoded)
            return URLQueryItem(name: parts[0], value: parts.dropFirst().first)
        }
    }

    private static func decoded(_ text: some StringProtocol) -> String { text.removingPercentEncoding ?? String(text) }

    /// In an order of their own.
    private static func parameters(of url: Reference) -> [URLQueryItem] {
        queryItems(of: url.query ?? "").sorted { ($0.name, $0.value ?? "") < ($1.name, $1.value ?? "") }
    }

    private static func segments(of url: Reference) -> [Substring] {
        let path = url.path.hasPrefix("/") ? url.path.dropFirst() : url.path
        return path.split(separator: "/", omittingEmptySubsequences: false)
    }
}

// MARK: - Bodies

/// What the body of a request has to be for a ``Stub`` to fit it.
public struct BodyPattern: Sendable, CustomStringConvertible {
    /// What it demands, in words.
    public let description: String
    let matches: @Sendable (Data) -> Bool

    /// These bytes.
    public static func data(_ data: Data) -> BodyPattern {
        BodyPattern(description: "a body of \(data.count) given bytes") { $0 == data }
    }

    /// This text in UTF-8.
    public static func text(_ text: String) -> BodyPattern {
        BodyPattern(description: "the body \(text)") { $0 == Data(text.utf8) }
    }

    /// A text with this in it.
    public static func containing(_ part: String) -> BodyPattern {
        BodyPattern(description: "a body containing \(part)") { String(decoding: $0, as: UTF8.self).contains(part) }
    }

    /// A value as JSON, in whatever order its keys are written.
    public static func json(_ value: some Encodable & Sendable) -> BodyPattern {
        let encoded = try? JSONEncoder.sortingKeys.encode(value)
        return BodyPattern(
            description: "the body \(encoded.map { String(decoding: $0, as: UTF8.self) } ?? "that cannot be JSON")"
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

// MARK: - Mocks of stubs

extension MockTransport {
    /// Makes a mock of stubs. The first that fits a request answers it; a request that none fits fails with
    /// ``TransportError/Code-swift.struct/invalidUse``, and the error names the request and the stubs.
    ///
    /// - Parameters:
    ///   - capabilities: What the mock says it can do; everything unless told otherwise.
    ///   - stubs: What is answered. Without any, every request fails.
    public convenience init(capabilities: TransportCapabilities = .mock, stubs: [Stub]) {
        self.init(capabilities: capabilities, stubs: StubList(stubs))
    }

    /// The stubs that have answered no request so far; none for a mock that was made of a closure.
    public var unusedStubs: [Stub] { stubs?.unused ?? [] }
}

/// Stubs, and how often each has answered.
final class StubList: Sendable {
    private let stubs: [Stub]
    /// What is asked when none of these fits.
    private let others: StubList?
    private let uses: Guarded<[Int]>

    init(_ stubs: [Stub], before others: StubList? = nil) {
        (self.stubs, self.others) = (stubs, others)
        uses = Guarded(Array(repeating: 0, count: stubs.count))
    }

    var unused: [Stub] { zip(stubs, uses.withLock { $0 }).filter { $0.1 == 0 }.map(\.0) }

    /// A request with what stands for the places of the stub that fits it, and what answers it; nil when none fits.
    func match(_ request: MockRequest) -> (request: MockRequest, answer: MockTransport.Handler)? {
        for (index, stub) in stubs.enumerated() {
            guard let parameters = stub.match(request) else { continue }
            let number = uses.withLock { uses in
                defer { uses[index] += 1 }
                return uses[index]
            }
            var request = request
            request.parameters = parameters
            return (request, { try await stub.response(to: $0, number: number) })
        }
        return others?.match(request)
    }

    /// Says that no stub fits a request.
    func refuse(_ request: MockRequest) throws -> MockResponse {
        let known = descriptions.isEmpty ? "no stubs" : descriptions.joined(separator: ", ")
        throw TransportError(
            .invalidUse, phase: .queued, url: request.url,
            message: "no stub fits \(request.method.rawValue) \(request.url). The mock has: \(known)")
    }

    private var descriptions: [String] { stubs.map(\.description) + (others?.descriptions ?? []) }
}
