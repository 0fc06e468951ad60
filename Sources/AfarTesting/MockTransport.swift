public import AfarCore
public import Foundation
public import HTTPTypes

/// A transport without a network: a closure from requests to responses.
///
/// ```swift
/// let transport = MockTransport { request in
///     switch request.path {
///     case "/users/1": .json(["name": "Ada"])
///     case "/slow": .text("at last").delayed(by: .seconds(1))
///     default: .status(404)
///     }
/// }
/// ```
///
/// It keeps to everything that ``Transport`` promises: bodies go to the exchange's delivery, and limits, decisions and
/// observers apply, suspension and the total timeout work, and cancelling ends an exchange promptly, even while the
/// closure is still busy. An error that the closure throws fails the exchange; one that is no `TransportError` becomes
/// the cause of one.
public final class MockTransport: CallbackTransport {
    /// Answers a request.
    public typealias Handler = @Sendable (MockRequest) async throws -> MockResponse

    /// What the mock says it can do, and refuses to do otherwise.
    public let capabilities: TransportCapabilities
    private let handler: Handler
    private let seen = Guarded<[(request: MockRequest, isAnswered: Bool)]>([])
    /// What the mock was made of, if it was of stubs.
    let stubs: StubList?

    /// Makes a mock.
    ///
    /// - Parameters:
    ///   - capabilities: What the mock says it can do; everything unless told otherwise.
    ///   - handler: Called for each exchange when its request's body is complete; many calls may run at once.
    public convenience init(capabilities: TransportCapabilities = .mock, _ handler: @escaping Handler) {
        self.init(capabilities: capabilities, stubs: nil, handler)
    }

    convenience init(capabilities: TransportCapabilities = .mock, stubs: StubList) {
        self.init(capabilities: capabilities, stubs: stubs, stubs.refuse)
    }

    private init(capabilities: TransportCapabilities, stubs: StubList?, _ handler: @escaping Handler) {
        self.capabilities = capabilities
        self.stubs = stubs
        self.handler = handler
    }

    /// The requests so far, in the order in which they were complete.
    public var requests: [MockRequest] { seen.withLock { $0.map(\.request) } }

    /// The requests so far that a stub with this method and this pattern would answer.
    public func requests(_ method: HTTPRequest.Method?, _ pattern: String) -> [MockRequest] {
        let stub = Stub(method, pattern, .status(200))
        return requests.filter { stub.match($0) != nil }
    }

    /// Those that no stub fitted; none for a mock that was made of a closure.
    public var unmatchedRequests: [MockRequest] { seen.withLock { $0.filter { !$0.isAnswered }.map(\.request) } }

    /// Requests go over a mock in the way in which they go over the real transport.
    public func prepare(_ hop: Hop) throws -> any PreparedExchange {
        let exchange = hop.exchangeToSend
        try capabilities.check(exchange)
        return MockExchange(exchange) { [seen, stubs, handler] request in
            let match = stubs?.match(request)
            let request = match?.request ?? request
            seen.withLock { $0.append((request, isAnswered: stubs == nil || match != nil)) }
            return try await (match?.answer ?? handler)(request)
        }
    }
}

extension TransportCapabilities {
    /// Everything, under the name "mock".
    public static var mock: TransportCapabilities {
        .withoutNetwork(name: "mock")
    }
}

// MARK: - Requests

/// A request as a ``MockTransport`` saw it.
public struct MockRequest: Sendable {
    /// The exchange: delivery, options, context. Its observer, its decision and the session's handlers are removed, because a mock
    /// keeps its requests, and they would retain the session's request.
    public let exchange: Exchange
    /// The body's bytes, whatever form the body had.
    public let body: Data
    /// What stands for the places of the ``Stub`` that fits: `id` for `/users/{id}`, percent-decoded.
    public internal(set) var parameters: [String: String] = [:]

    init(exchange: Exchange, body: Data) {
        self.exchange = exchange.withoutHandlers
        self.body = body
    }

    /// The method.
    public var method: HTTPRequest.Method { exchange.request.method }
    /// The URL as text.
    public var url: String { exchange.url }

    /// The URL's path without the query.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The URL's query without the question mark, nil when there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The header fields, the exchange's default fields among them.
    public var fields: HTTPFields { exchange.fields }

    /// The value of the header field of a name, whose case does not matter; nil when there is none.
    public subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

    private var target: String { exchange.request.path ?? "/" }
}
