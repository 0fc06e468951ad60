public import AfarCore
public import Foundation
public import HTTPTypes

/// A transport that calls a closure for each request and doesn't use the network.
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
/// The mock meets all requirements of ``Transport``. It applies the exchange's `ResponseDelivery`, size limit, `HeadDecision`
/// and total timeout. It notifies the observer and supports suspension. Cancellation ends an exchange promptly, even while the
/// closure is running. If the closure throws a `TransportError`, the exchange fails with that error. If it throws a different
/// error, the exchange fails with a `TransportError` whose underlying error is the thrown error.
public final class MockTransport: CallbackTransport {
    /// A closure that returns the response to a request.
    public typealias Handler = @Sendable (MockRequest) async throws -> MockResponse

    /// The capabilities that the mock declares. Exchanges that require other capabilities fail.
    public let capabilities: TransportCapabilities
    private let handler: Handler
    private let received = Guarded<[(request: MockRequest, isAnswered: Bool)]>([])
    /// The stubs of the mock, if it was created with stubs.
    let stubs: StubList?

    /// Creates a mock that responds with a closure.
    ///
    /// - Parameters:
    ///   - capabilities: The capabilities that the mock declares. The default includes everything.
    ///   - handler: The closure to call for each exchange after its request body is complete. Calls can run
    ///     concurrently.
    public convenience init(capabilities: TransportCapabilities = .mock, _ handler: @escaping Handler) {
        self.init(capabilities: capabilities, stubs: nil, handler)
    }

    convenience init(capabilities: TransportCapabilities = .mock, stubs: StubList) {
        self.init(capabilities: capabilities, stubs: stubs, stubs.throwUnmatched)
    }

    private init(capabilities: TransportCapabilities, stubs: StubList?, _ handler: @escaping Handler) {
        self.capabilities = capabilities
        self.stubs = stubs
        self.handler = handler
    }

    /// The requests received so far, in the order in which their bodies were completed.
    public var requests: [MockRequest] { received.withLock { $0.map(\.request) } }

    /// Returns the received requests that match the given method and pattern, as in a ``Stub``.
    public func requests(_ method: HTTPRequest.Method?, _ pattern: String) -> [MockRequest] {
        let stub = Stub(method, pattern, .status(200))
        return requests.filter { stub.match($0) != nil }
    }

    /// The received requests that matched no stub. The array is always empty for a mock with a closure.
    public var unmatchedRequests: [MockRequest] { received.withLock { $0.filter { !$0.isAnswered }.map(\.request) } }

    /// Prepares an exchange for a hop.
    public func prepare(_ hop: Hop) throws -> any PreparedExchange {
        let exchange = hop.exchangeToSend
        try capabilities.check(exchange)
        return MockExchange(exchange) { [received, stubs, handler] request in
            let match = stubs?.match(request)
            let request = match?.request ?? request
            received.withLock { $0.append((request, isAnswered: stubs == nil || match != nil)) }
            return try await (match?.handler ?? handler)(request)
        }
    }
}

extension TransportCapabilities {
    /// All capabilities, with the name "mock".
    public static var mock: TransportCapabilities {
        .withoutNetwork(name: "mock")
    }
}

/// A request that a ``MockTransport`` received.
public struct MockRequest: Sendable {
    /// The exchange, including its delivery, options and context. It lacks the observer, the head decision and the session's
    /// handlers. The mock stores every `MockRequest`, and these parts would keep the session's `Request` alive.
    public let exchange: Exchange
    /// The bytes of the body, regardless of its original form.
    public let body: Data
    /// The percent-decoded values of the placeholders in the matching ``Stub``, such as `id` for `/users/{id}`.
    public internal(set) var parameters: [String: String] = [:]

    init(exchange: Exchange, body: Data) {
        self.exchange = exchange.withoutHandlers
        self.body = body
    }

    /// The HTTP method.
    public var method: HTTPRequest.Method { exchange.request.method }
    /// The URL as a string.
    public var url: String { exchange.url }

    /// The path and query of the URL, as in a request line.
    public var target: String { exchange.request.path ?? "/" }

    /// The path of the URL, without the query.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The query of the URL without the question mark, or `nil` if the URL has no query.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The header fields, including the exchange's default fields.
    public var fields: HTTPFields { exchange.fields }

    /// Returns the value of the header field with the given case-insensitive name, or `nil` if the request lacks it.
    public subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

}
