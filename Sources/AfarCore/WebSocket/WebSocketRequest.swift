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
    // Sendable because what it adds never changes.

    /// How the WebSocket is.
    public let configuration: Configuration
    let messages: MessageSink

    init(
        convertible: any URLRequestConvertible,
        configuration: Configuration,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?
    ) {
        self.configuration = configuration
        messages = MessageSink(configuration)
        super.init(
            convertible: convertible, sink: messages, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
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

    private func send(
        _ message: URLSessionWebSocketTask.Message, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        messages.pendingConnection.whenOpen { [weak self] channel in
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
        messages.willClose()
        let pendingConnection = messages.pendingConnection
        guard pendingConnection.connection != nil || pendingConnection.isAwaited else { return cancel() }
        pendingConnection.whenOpen { channel in channel?.close(closeCode, reason: reason) }
        return self
    }

    /// Ends the request at once: the server is told nothing. One that is about to be closed has ten seconds for that.
    @discardableResult
    public override func cancel() -> Self {
        guard messages.isClosing, messages.pendingConnection.connection != nil else { return super.cancel() }
        Task { [weak self] in
            try? await Task.sleep(for: .seconds(WebSocketChannel.closeTimeout))
            self?.cancel(because: .explicitlyCancelled)
        }
        return self
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
        guard let channel = messages.pendingConnection.connection else { return queue.async { onResponse(.unsent) } }
        channel.ping { response in queue.async { onResponse(response) } }
    }
}
