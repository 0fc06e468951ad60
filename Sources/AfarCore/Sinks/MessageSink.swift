import AfarWebSocket
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Uses a connection as a WebSocket. Passes each message to one listener after another.
final class MessageSink: ResponseSink {
    /// A listener for events. The next message is read after the listener returns.
    typealias Listener = @Sendable (Incoming) async -> Void

    /// An event whose message hasn't been decoded yet.
    enum Incoming: Sendable {
        case connected(protocol: String?)
        case message(URLSessionWebSocketTask.Message)
        case disconnected(WebSocketCloseCode, reason: Data?)
    }

    private struct State {
        var listeners: [Listener] = []
        /// Whether events that precede the first listener are buffered.
        var buffersEarlyEvents = false
        var early: [Incoming] = []
        /// Whether the client has started to close the WebSocket.
        var isClosing = false
    }

    /// The maximum number of events to buffer for the first listener. Reading pauses at the limit.
    private static let earlyLimit = 64

    private static let httpSchemes = ["ws": "http", "wss": "https"]

    private let configuration: WebSocketRequest.Configuration
    let pendingConnection = PendingConnection<WebSocketChannel>()
    private let state = Locked(State())
    /// Held while listeners are called.
    private let calling = CallbackLock()
    /// Fulfilled when a listener has been added or the request has finished.
    private let hasListener = Deferred<Void>()

    init(_ configuration: WebSocketRequest.Configuration) { self.configuration = configuration }

    // MARK: Sending

    func prepare(_ urlRequest: inout URLRequest, of request: Request) {
        if let name = configuration.protocol { urlRequest.headers.update(.websocketProtocol(name)) }
    }

    /// Replaces the scheme "ws" of a WebSocket's URL with "http", and "wss" with "https" (RFC 6455, section 3).
    func httpForm(of urlRequest: URLRequest) -> URLRequest { urlRequest.replacingScheme(Self.httpSchemes) }

    func openDelivery(for request: Request) -> ResponseDelivery { .connection }

    func prepare(_ exchange: inout Exchange) throws {
        guard exchange.request.method == .get, exchange.body.isNone else {
            throw TransportError(
                .invalidUse, phase: .queued, url: exchange.url,
                message: "a WebSocket requires a GET request without a body")
        }
        exchange.policies.redirectSchemes = Self.httpSchemes
        WebSocketHandshake.mark(&exchange.request.headerFields)
    }

    func stages(of stack: TransportStack) -> [any ExchangeStage] { stack.stages + [WebSocketHandshakeStage()] }

    // MARK: Receiving

    func read(_ response: TransportResponse, for request: Request) async throws {
        let channel = try WebSocketChannel(
            over: connection(of: response), after: response.head, maximumMessageSize: configuration.maximumMessageSize)
        defer {
            pendingConnection.close()
            channel.end()
        }
        try await withTaskCancellationHandler {
            pendingConnection.open(channel)
            await call(.connected(protocol: channel.protocol), request)
            let pings = keepAlive(channel)
            defer { pings?.cancel() }
            try await receive(over: channel, request)
        } onCancel: {
            channel.end()
            hasListener.fulfill(())
        }
    }

    func receive(_ response: TransportResponse, for request: Request) throws { _ = try connection(of: response) }

    private func connection(of response: TransportResponse) throws -> any Connection {
        guard case .connection(let connection) = response.body else {
            throw AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.head.status))
        }
        return connection
    }

    private func receive(over channel: WebSocketChannel, _ request: Request) async throws {
        while true {
            for event in try await channel.receive() {
                await request.waitUntilResumed()
                guard !request.hasEnded else { return }
                switch event {
                case .message(let message): await call(.message(message), request)
                case .closed(let code, let reason):
                    async let closing: Void = channel.finish(after: code)
                    await call(.disconnected(code, reason: reason), request)
                    return await closing
                }
            }
        }
    }

    private func call(_ incoming: Incoming, _ request: Request) async {
        await calling.acquire()
        let (listeners, mustWait) = state.withLock { state in
            guard state.buffersEarlyEvents, state.listeners.isEmpty else { return (state.listeners, false) }
            state.early.append(incoming)
            return ([], state.early.count >= Self.earlyLimit)
        }
        for listener in listeners where !request.hasEnded { await listener(incoming) }
        calling.unlock()
        if mustWait { await hasListener.value }
    }

    /// Sends pings at the interval, and closes the connection if the server sends nothing for one interval after a ping.
    private func keepAlive(_ channel: WebSocketChannel) -> Task<Void, Never>? {
        guard let seconds = configuration.pingInterval, seconds > 0 else { return nil }
        let interval = Duration(timeout: seconds)
        return Task {
            while !Task.isCancelled {
                let isAnswered = Locked(false)
                let sent = Locked<ContinuousClock.Instant?>(nil)
                channel.ping(onSent: { sent.withLock { $0 = .now } }) { _ in isAnswered.withLock { $0 = true } }
                var start = ContinuousClock.now
                while true {
                    try? await Task.sleep(until: start + interval, clock: .continuous)
                    if Task.isCancelled || isAnswered.withLock({ $0 }) { break }
                    // The pong can be delayed behind a long message, or unread while a handler is busy.
                    var silence: ContinuousClock.Instant?
                    if let sent = sent.withLock({ $0 }) { silence = channel.silenceStart.map { max($0, sent) } }
                    if let silence, silence <= start { return channel.closeUnanswered() }
                    start = silence ?? .now
                }
            }
        }
    }

    // MARK: Closing

    /// Records that the client has started to close the WebSocket.
    func willClose() { state.withLock { $0.isClosing = true } }

    var isClosing: Bool { state.withLock { $0.isClosing } }
    var canBeRetried: Bool { !isClosing }

    func completionError(for error: AFError?) -> AFError? {
        isClosing && error?.isExplicitlyCancelledError == true ? nil : error
    }

    func end() {
        hasListener.fulfill(())
        state.release { Swift.exchange(&$0.listeners, with: []) }
        pendingConnection.end()
    }

    // MARK: Listeners

    /// Starts to buffer the events that precede the first listener.
    func bufferEarlyEvents() { state.withLock { $0.buffersEarlyEvents = true } }

    /// Adds a listener, which first receives the buffered events.
    ///
    /// - Parameter proceed: Called after the listener has received the buffered events.
    func append(
        _ listener: @escaping Listener, of request: Request, then proceed: @escaping @Sendable () -> Void
    ) {
        let buffersEarlyEvents = state.withLock { state in
            if !state.buffersEarlyEvents { state.listeners.append(listener) }
            return state.buffersEarlyEvents
        }
        guard buffersEarlyEvents else { return proceed() }
        calling.lock { [self] in
            request.run { [self] in
                let early = state.withLock { state in
                    state.listeners.append(listener)
                    return Swift.exchange(&state.early, with: [])
                }
                hasListener.fulfill(())
                for incoming in early where !request.hasEnded { await listener(incoming) }
                calling.unlock()
                proceed()
            }
        }
    }
}

extension URLRequest {
    /// Returns a copy with a replaced scheme, or the unchanged request if `schemes` doesn't contain its scheme.
    func replacingScheme(_ schemes: [String: String]) -> URLRequest {
        guard let url, let scheme = url.scheme?.lowercased(), let other = schemes[scheme] else { return self }
        var copy = self
        copy.url = URL(string: other + url.absoluteString.dropFirst(scheme.count))
        return copy
    }
}
