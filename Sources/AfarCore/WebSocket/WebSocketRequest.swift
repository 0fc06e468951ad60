import AfarTransport
import AfarWebSocket
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A WebSocket (RFC 6455): a request that turns into a connection for messages both ways.
///
/// Adapters, retriers, credentials, cookies, redirects and trust work as for any request, until the server agrees. From then
/// on messages reach the handlers in order; the next one is read when all handlers are done with the one before, so a slow
/// handler holds the server back. Messages of up to ``Configuration/maximumMessageSize`` bytes are accepted, and compressed
/// ones (RFC 7692) where the server agrees to that. Pings are answered.
///
/// When a server closes, the request ends without an error; when the connection breaks, with one, and retriers may be asked
/// for another.
public final class WebSocketRequest: Request, @unchecked Sendable {
    // Sendable because what it adds is behind a lock.

    typealias Message = URLSessionWebSocketTask.Message

    /// Somebody who gets each event; the next message is read when it returns.
    typealias Listener = @Sendable (WebSocketRequest, Incoming) async -> Void

    /// What happens, before anybody has made something of it.
    enum Incoming: Sendable {
        case connected(protocol: String?)
        case message(Message)
        case disconnected(WebSocketCloseCode, reason: Data?)
    }

    private struct State {
        var listeners: [Listener] = []
        /// Whether what happens before anybody listens is kept.
        var keepsEarly = false
        var early: [Incoming] = []
        /// Whether this side has asked for the close.
        var isClosing = false
    }

    /// How much of what happens before anybody listens is kept; more is not read before somebody does.
    private static let earlyLimit = 64

    /// How the WebSocket is.
    public let configuration: Configuration
    private let opening = Opening<WebSocketChannel>()
    private let socket = Locked(State())
    /// Held by who tells the listeners something.
    private let telling = CallbackLock()
    /// Fulfilled when somebody listens, or nobody will.
    private let isHeard = Deferred<Void>()

    init(
        convertible: any URLRequestConvertible,
        configuration: Configuration,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?
    ) {
        self.configuration = configuration
        super.init(
            convertible: convertible, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    // MARK: The request

    override func openDelivery() throws -> ResponseDelivery { .connection }

    override var stages: [any ExchangeStage] { stack.stages + [WebSocketHandshakeStage()] }

    override func complete(_ urlRequest: inout URLRequest) throws {
        if let name = configuration.protocol { urlRequest.headers.update(.websocketProtocol(name)) }
    }

    /// A WebSocket's URL says "ws" for "http" (RFC 6455, section 3).
    override func httpForm(of urlRequest: URLRequest) -> URLRequest { urlRequest.replacingScheme(Self.httpSchemes) }

    private static let httpSchemes = ["ws": "http", "wss": "https"]

    override func complete(_ exchange: inout Exchange) throws {
        guard exchange.request.method == .get, exchange.body.isNone else {
            throw TransportError(
                .invalidUse, phase: .queued, url: exchange.url,
                message: "a WebSocket is asked for by GET without a body")
        }
        exchange.context[RedirectSchemesKey.self] = Self.httpSchemes
        WebSocketHandshake.mark(&exchange.request.headerFields)
    }

    override func receive(_ response: TransportResponse) throws {
        try super.receive(response)
        guard case .connection = response.body else {
            throw AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: response.head.status))
        }
    }

    override func use(_ connection: any Connection, after head: ResponseHead) async throws {
        let channel = try WebSocketChannel(
            over: connection, after: head, maximumMessageSize: configuration.maximumMessageSize)
        defer {
            opening.close()
            channel.end()
        }
        try await withTaskCancellationHandler {
            opening.open(channel)
            await tell(.connected(protocol: channel.protocol))
            let pings = keepAlive(channel)
            defer { pings?.cancel() }
            try await receive(over: channel)
        } onCancel: {
            channel.end()
            isHeard.fulfil(())
        }
    }

    private func receive(over channel: WebSocketChannel) async throws {
        while true {
            for event in try await channel.receive() {
                await waitUntilResumed()
                guard !hasEnded else { return }
                switch event {
                case .message(let message): await tell(.message(message))
                case .closed(let code, let reason):
                    async let farewell: Void = channel.finish(after: code)
                    await tell(.disconnected(code, reason: reason))
                    return await farewell
                }
            }
        }
    }

    private func tell(_ incoming: Incoming) async {
        await telling.acquire()
        let (listeners, mustWait) = socket.withLock { state in
            guard state.keepsEarly, state.listeners.isEmpty else { return (state.listeners, false) }
            state.early.append(incoming)
            return ([], state.early.count >= Self.earlyLimit)
        }
        for listener in listeners where !hasEnded { await listener(self, incoming) }
        telling.unlock()
        if mustWait { await isHeard.value }
    }

    /// Keeps what happens before anybody listens.
    func keepEarly() { socket.withLock { $0.keepsEarly = true } }

    /// Sends pings, and ends the connection when the server is silent for as long after one.
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
                    // It may stand behind a long message. While a handler is busy nothing is read, and the answer may be there.
                    var silence: ContinuousClock.Instant?
                    if let sent = sent.withLock({ $0 }) { silence = channel.silenceStart.map { max($0, sent) } }
                    if let silence, silence <= start { return channel.giveUp() }
                    start = silence ?? .now
                }
            }
        }
    }

    override func cleanUp() {
        super.cleanUp()
        isHeard.fulfil(())
        let listeners = socket.withLock { Swift.exchange(&$0.listeners, with: []) }
        withExtendedLifetime(listeners) {}
        opening.end()
    }

    /// Adds a listener, who is told first what was kept.
    ///
    /// - Parameter proceed: Called when that is done.
    func append(_ listener: @escaping Listener, then proceed: @escaping @Sendable () -> Void) {
        let keepsEarly = socket.withLock { state in
            if !state.keepsEarly { state.listeners.append(listener) }
            return state.keepsEarly
        }
        guard keepsEarly else { return proceed() }
        telling.lock { [self] in
            run { [self] in
                let early = socket.withLock { state in
                    state.listeners.append(listener)
                    return Swift.exchange(&state.early, with: [])
                }
                isHeard.fulfil(())
                for incoming in early where !hasEnded { await listener(self, incoming) }
                telling.unlock()
                proceed()
            }
        }
    }

    // MARK: Sending

    /// Sends a message. Before the WebSocket is open, it waits for that.
    ///
    /// - Parameters:
    ///   - message: A text or bytes.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - completionHandler: Called once, when the system has taken the message or cannot.
    @preconcurrency
    public func send(
        _ message: URLSessionWebSocketTask.Message, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        send(message) { result in queue.async { completionHandler(result) } }
    }

    /// Sends a message, and waits until the system has taken it, so that a slow server holds the sender back. Before the
    /// WebSocket is open, it waits for that.
    ///
    /// - Throws: The request's ``AFError`` when the WebSocket is not opened; a `TransportError` when it is closed;
    ///   `CancellationError` when the task is cancelled, though the message may go out.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        let sent = Deferred<Result<Void, any Error>>()
        send(message) { sent.fulfil($0) }
        try await withTaskCancellationHandler {
            try await sent.value.get()
        } onCancel: {
            sent.fulfil(.failure(CancellationError()))
        }
    }

    private func send(_ message: Message, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        opening.whenOpen { [weak self] channel in
            if let channel { return channel.send(message, completion: completion) }
            let failure = TransportError(
                .cancelled, phase: .sending, url: nil, message: "the WebSocket is not open any more")
            completion(.failure(self?.completionError ?? failure))
        }
    }

    /// Closes the WebSocket: the server is told, and answers. What was sent before still goes out; what the server has sent
    /// still comes. The request ends then, without an error. One that is not open yet, and has nothing to send, ends at once.
    ///
    /// - Parameters:
    ///   - closeCode: Why. One that must not be sent stands for none.
    ///   - reason: A text of at most 123 bytes in UTF-8; the rest is cut off.
    @discardableResult
    public func close(sending closeCode: WebSocketCloseCode, reason: Data? = nil) -> Self {
        socket.withLock { $0.isClosing = true }
        guard opening.connection != nil || opening.isAwaited else { return cancel() }
        opening.whenOpen { channel in channel?.close(closeCode, reason: reason) }
        return self
    }

    /// Ends the request at once: the server is told nothing. One that is about to be closed has ten seconds for that.
    @discardableResult
    public override func cancel() -> Self {
        guard isClosing, opening.connection != nil else { return super.cancel() }
        Task { [weak self] in
            try? await Task.sleep(for: .seconds(WebSocketChannel.closeTimeout))
            self?.cancel(because: .explicitlyCancelled)
        }
        return self
    }

    private var isClosing: Bool { socket.withLock { $0.isClosing } }

    override var mayBeRetried: Bool { !isClosing }

    override var completionError: AFError? {
        let error = error
        return isClosing && error?.isExplicitlyCancelledError == true ? nil : error
    }

    /// The same with Foundation's type.
    @_disfavoredOverload
    @discardableResult
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) -> Self {
        close(sending: WebSocketCloseCode(closeCode), reason: reason)
    }

    /// Sends a ping.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - onResponse: Called once, when the answer has come or none can come; with `unsent` when the WebSocket is not open.
    @preconcurrency
    public func sendPing(
        respondingOn queue: DispatchQueue = .main, onResponse: @escaping @Sendable (PingResponse) -> Void
    ) {
        guard let channel = opening.connection else { return queue.async { onResponse(.unsent) } }
        channel.ping { response in queue.async { onResponse(response) } }
    }
}

extension URLRequest {
    /// The same with another scheme, where there is another for it.
    func replacingScheme(_ schemes: [String: String]) -> URLRequest {
        guard let url, let scheme = url.scheme?.lowercased(), let other = schemes[scheme] else { return self }
        var copy = self
        copy.url = URL(string: other + url.absoluteString.dropFirst(scheme.count))
        return copy
    }
}
