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
///
/// To accept a WebSocket, return `MockResponse.webSocket`, with a script or a closure. Raw connections aren't supported.
public final class MockTransport: CallbackTransport {
    /// A closure that returns the response to a request.
    public typealias Handler = @Sendable (MockRequest) async throws -> MockResponse

    /// The delays that a mock performs.
    public enum Delays: Sendable {
        /// All delays of responses, chunks and WebSocket scripts.
        case scripted
        /// No delays. Responses arrive immediately, and timeouts still apply.
        case none
    }

    private enum Answers {
        case closure(Handler)
        case stubs(StubList)
    }

    /// The capabilities that the mock declares. Exchanges that require other capabilities fail.
    public let capabilities: TransportCapabilities
    let delays: Delays
    private let answers: Answers
    private let received = Locked<[(request: MockRequest, problem: String?)]>([])
    private let mismatches = Locked<[String]>([])

    /// Creates a mock that responds with a closure.
    ///
    /// - Parameters:
    ///   - capabilities: The capabilities that the mock declares. The default includes everything except raw connections and connection policies.
    ///   - delays: The delays to perform. The default is all.
    ///   - handler: The closure to call for each exchange after its request body is complete. Calls can run
    ///     concurrently.
    public convenience init(
        capabilities: TransportCapabilities = .mock, delays: Delays = .scripted, _ handler: @escaping Handler
    ) {
        self.init(capabilities, delays, .closure(handler))
    }

    convenience init(capabilities: TransportCapabilities = .mock, delays: Delays, stubs: StubList) {
        self.init(capabilities, delays, .stubs(stubs))
    }

    private init(_ capabilities: TransportCapabilities, _ delays: Delays, _ answers: Answers) {
        (self.capabilities, self.delays, self.answers) = (capabilities, delays, answers)
    }

    /// The stubs of the mock, if it was created with stubs.
    var stubs: StubList? { if case .stubs(let stubs) = answers { stubs } else { nil } }

    /// The requests received so far, in the order in which their bodies were completed.
    public var requests: [MockRequest] { received.withLock { $0.map(\.request) } }

    /// Returns the received requests that match the given method and pattern, as in a ``Stub``.
    public func requests(_ method: HTTPRequest.Method?, _ pattern: String) -> [MockRequest] {
        let stub = Stub(method, pattern, .status(200))
        return requests.filter { (try? stub.match($0)) != nil }
    }

    /// The received requests that matched no stub. The array is always empty for a mock with a closure.
    public var unmatchedRequests: [MockRequest] {
        received.withLock { $0.filter { $0.problem != nil }.map(\.request) }
    }

    /// For each request that matched no stub, the message of its error.
    var unmatchedMessages: [String] { received.withLock { $0.compactMap(\.problem) } }

    /// The failed expectations of WebSocket scripts, in order. Each text describes the expected message and the message that the
    /// script received instead. If the array isn't empty, the trait ``Testing/Trait/stubs(_:delays:allowsUnused:allowsUnmatched:)``
    /// fails the test.
    public var failedExpectations: [String] { mismatches.withLock { $0 } }

    /// Prepares an exchange for a hop.
    public func prepare(_ hop: Hop) throws -> any PreparedExchange {
        let exchange = hop.exchangeToSend
        try capabilities.check(exchange)
        if case .connection = exchange.delivery, exchange.request.method == .connect {
            throw TransportError(
                .unsupportedByTransport, phase: .queued, url: exchange.url,
                message: "the mock transport supports WebSockets, but not raw connections")
        }
        return MockExchange(exchange, delays: delays) { [answers, received] request in
            switch answers {
            case .closure(let handler):
                received.withLock { $0.append((request, problem: nil)) }
                return try await handler(request)
            case .stubs(let stubs):
                let match: (request: MockRequest, handler: Handler)
                do throws(TransportError) { match = try stubs.match(request) } catch {
                    received.withLock { $0.append((request, problem: error.message)) }
                    throw error
                }
                received.withLock { $0.append((match.request, problem: nil)) }
                return try await match.handler(match.request)
            }
        } reportingMismatches: { [mismatches] message in
            mismatches.withLock { $0.append(message) }
        }
    }
}

extension TransportCapabilities {
    /// All capabilities except connection policies, with the name "mock". Among connections, only WebSockets are supported.
    public static var mock: TransportCapabilities {
        var capabilities = withoutNetwork(name: "mock")
        capabilities.features.insert(.connections)
        return capabilities
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
