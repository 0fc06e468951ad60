import AfarTransport
import Foundation
import HTTPTypes

/// A request for a WebSocket that shares an HTTP/2 connection with other requests (RFC 8441).
///
/// It is sent as an exchange whose bodies carry the WebSocket's bytes. If the connection is lost before the response arrives, or
/// doesn't support WebSockets, the request is sent over a connection of its own.
final class WebSocketExchange: PreparedExchange {
    private struct State {
        /// Nil after the response has been delivered.
        var current: HTTPExchange?
        var isCancelled = false
    }

    private let hop: Hop
    private let exchange: HTTPExchange
    private let bytes: ExchangeStream
    /// Suspends and resumes the exchange until its response arrives. The WebSocket itself can't be suspended.
    private let control: ExchangeControl
    private let makeAlternative: @Sendable (Hop) throws -> HTTPExchange
    private let state: Locked<State>

    /// Prepares an exchange. Returns nil if the request isn't for a WebSocket, or if no connection to its host supports WebSockets.
    ///
    /// - Parameters:
    ///   - hop: The request to upgrade a connection.
    ///   - prepare: Prepares an `HTTPExchange`.
    static func prepare(
        _ hop: Hop, _ prepare: @escaping @Sendable (Hop) throws -> HTTPExchange
    ) throws -> WebSocketExchange? {
        let request = hop.exchange.request
        guard request.method == .get, request.scheme == "https",
            request.headerFields[.upgrade]?.asciiLowercased == "websocket"
        else { return nil }
        let (bytes, control) = (ExchangeStream(), ExchangeControl())
        var tunnel = hop.exchange.without(.acceptEncoding).without(.secWebSocketKey)
        tunnel.request.method = .connect
        tunnel.request.extendedConnectProtocol = "websocket"
        tunnel.body = .stream(bytes.requestBody)
        tunnel.delivery = .stream()
        tunnel.options.decodesContent = false
        tunnel.control = control
        let exchange = try prepare(Hop(tunnel, insteadOf: hop, observer: HeadObserver(hop.observer)))
        guard exchange.engine.supportsWebSockets(exchange.key) else { return nil }
        exchange.tunnel = bytes
        return WebSocketExchange(hop, exchange, bytes, control, prepare)
    }

    private init(
        _ hop: Hop, _ exchange: HTTPExchange, _ bytes: ExchangeStream, _ control: ExchangeControl,
        _ makeAlternative: @escaping @Sendable (Hop) throws -> HTTPExchange
    ) {
        (self.hop, self.exchange, self.bytes, self.control) = (hop, exchange, bytes, control)
        self.makeAlternative = makeAlternative
        state = Locked(State(current: exchange))
    }

    func start(completion: @escaping LoopExchange.Completion) {
        let isSuspended = hop.exchange.control.attach { [control] in
            if $0 { control.suspend() } else { control.resume() }
        }
        if isSuspended { control.suspend() }
        exchange.start { [self] result in
            hop.exchange.control.attach(nil)
            control.resume()
            switch result {
            case .success(let response):
                state.withLock { $0.current = nil }
                completion(.success(webSocket(response)))
            case .failure(let error as TransportError) where canRetry(after: error): startAlternative(completion)
            case .failure: completion(result)
            }
        }
    }

    func cancel() {
        let current = state.withLock { state in
            state.isCancelled = true
            return state.current
        }
        current?.cancel()
    }

    private func canRetry(after error: TransportError) -> Bool {
        error.phase != .receiving && (error.code == .unsupportedByTransport || error.code == .connectionLost)
    }

    private func startAlternative(_ completion: @escaping LoopExchange.Completion) {
        let hop = Hop(hop.exchange, insteadOf: hop, observer: hop.observer)
        do {
            guard hop.grantTimeLeft() else { throw hop.timeout }
            let alternative = try makeAlternative(hop)
            let isCancelled = state.withLock { state in
                state.current = alternative
                return state.isCancelled
            }
            alternative.start(completion: completion)
            if isCancelled { alternative.cancel() }
        } catch {
            completion(.failure(error))
        }
    }

    /// Returns the response with the WebSocket's connection, or without a body if the server has refused the WebSocket.
    private func webSocket(_ response: TransportResponse) -> TransportResponse {
        guard case .stream(let body) = response.body else { return response }
        var response = response
        if (200..<300).contains(response.head.status) {
            bytes.connect(body)
            let metrics = response.report.transactions.last ?? TransactionMetrics()
            // The body retains the transport.
            response.body = .connection(
                RawConnection(bytes, for: hop, metrics, isSecure: true, exchange.engine.tls, owner: nil))
        } else {
            body.cancel()
            response.body = .data(Data())
        }
        return response
    }
}

/// Passes on the events of an exchange, except the events of the bodies.
private final class HeadObserver: ExchangeObserver {
    private let base: (any ExchangeObserver)?

    init(_ base: (any ExchangeObserver)?) { self.base = base }

    func exchangeDidReceiveInformational(_ head: ResponseHead) { base?.exchangeDidReceiveInformational(head) }

    func exchangeDidReceiveHead(_ head: ResponseHead) { base?.exchangeDidReceiveHead(head) }
}
