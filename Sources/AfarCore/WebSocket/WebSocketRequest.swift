import AfarWebSocket
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A WebSocket (RFC 6455): a request that becomes a connection for messages in both directions.
///
/// Until the server accepts the WebSocket, adapters, retriers, credentials, cookies, redirects and server trust evaluation work
/// as for any request. After that, handlers receive messages in order. The next message is read after all handlers have
/// processed the previous one, so a slow handler slows down the server. Messages of up to ``Configuration/maximumMessageSize``
/// bytes are accepted. Messages are compressed (RFC 7692) if the server supports it. Pings are answered.
///
/// If the server closes the WebSocket, the request finishes without an error. If the connection is lost, it finishes with an
/// error, and retriers can retry it.
public final class WebSocketRequest: Request, @unchecked Sendable {
    // Sendable because its own properties are constants.

    /// The settings of the WebSocket.
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

    /// Sends a message. If the WebSocket isn't open yet, the message is sent after it opens.
    ///
    /// - Parameters:
    ///   - message: The message, text or bytes.
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - completionHandler: Called once, when the system has accepted the message or can't send it.
    @preconcurrency
    public func send(
        _ message: URLSessionWebSocketTask.Message, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        send(message) { result in queue.async { completionHandler(result) } }
    }

    /// Sends a message and waits until the system has accepted it, so a slow server slows down the sender. If the WebSocket
    /// isn't open yet, the message is sent after it opens.
    ///
    /// - Throws: The request's ``AFError`` if the WebSocket doesn't open. A `TransportError` if it is closed.
    ///   `CancellationError` if the task is cancelled, although the message can still be sent.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        let sent = Deferred<Result<Void, any Error>>()
        send(message) { sent.fulfill($0) }
        try await withTaskCancellationHandler {
            try await sent.value.get()
        } onCancel: {
            sent.fulfill(.failure(CancellationError()))
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

    /// Closes the WebSocket with the closing handshake.
    ///
    /// Messages that were sent earlier are still transmitted, and messages that the server has sent are still received. The
    /// request then finishes without an error. If the WebSocket isn't open yet and has no messages to send, it ends
    /// immediately.
    ///
    /// - Parameters:
    ///   - closeCode: The reason. A code that must not be sent is omitted.
    ///   - reason: Text of at most 123 bytes in UTF-8. Longer text is truncated. The default is nil.
    @discardableResult
    public func close(sending closeCode: WebSocketCloseCode, reason: Data? = nil) -> Self {
        messages.willClose()
        let pendingConnection = messages.pendingConnection
        guard pendingConnection.connection != nil || pendingConnection.isAwaited else { return cancel() }
        pendingConnection.whenOpen { channel in channel?.close(closeCode, reason: reason) }
        return self
    }

    /// Ends the request immediately, without notifying the server. If the WebSocket is already closing, it has ten seconds to
    /// complete that.
    @discardableResult
    public override func cancel() -> Self {
        guard messages.isClosing, messages.pendingConnection.connection != nil else { return super.cancel() }
        Task { [weak self] in
            try? await Task.sleep(for: .seconds(WebSocketChannel.closeTimeout))
            self?.cancel(because: .explicitlyCancelled)
        }
        return self
    }

    /// Closes the WebSocket with one of Foundation's close codes.
    @_disfavoredOverload
    @discardableResult
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) -> Self {
        close(sending: WebSocketCloseCode(closeCode), reason: reason)
    }

    /// Sends a ping.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - onResponse: Called once, when the answer has arrived or can't arrive anymore, or with `unsent` if the WebSocket
    ///     isn't open.
    @preconcurrency
    public func sendPing(
        respondingOn queue: DispatchQueue = .main, onResponse: @escaping @Sendable (PingResponse) -> Void
    ) {
        guard let channel = messages.pendingConnection.connection else { return queue.async { onResponse(.unsent) } }
        channel.ping { response in queue.async { onResponse(response) } }
    }
}
