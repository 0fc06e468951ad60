import AfarWebSocket
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request that opens a WebSocket (RFC 6455): a connection for messages in both directions.
///
/// Until the server accepts the WebSocket, adapters, retriers, credentials, cookies, redirects and server trust evaluation work
/// as for any other request. Afterward, handlers receive messages in order. The next message is read after all handlers have
/// processed the previous one, so a slow handler slows down the server. Messages of up to ``Configuration/maximumMessageSize``
/// bytes are accepted. Messages are compressed (RFC 7692) if the server supports compression. Pings from the server are
/// answered automatically.
///
/// If the server closes the WebSocket, the request finishes without an error. If the connection is lost, the request finishes
/// with an error, and retriers can retry it.
public final class WebSocketRequest: Request, @unchecked Sendable {
    // @unchecked because its own properties are constants.

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

    /// Sends a message. If the WebSocket isn't open yet, the message is sent after the WebSocket opens.
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

    /// Sends a message and waits until the system has accepted the message. A slow server therefore slows down the sender. If the
    /// WebSocket isn't open yet, the message is sent after the WebSocket opens.
    ///
    /// - Throws: The request's ``AFError`` if the WebSocket doesn't open. A `TransportError` if the WebSocket is closed.
    ///   `CancellationError` if the task is canceled; the message might still be sent.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        let sent = Deferred<Result<Void, any Error>>()
        send(message) { sent.fulfill($0) }
        try await sent.value(ifCancelled: .failure(CancellationError())).get()
    }

    private func send(
        _ message: URLSessionWebSocketTask.Message, _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        messages.pendingConnection.whenOpen { [weak self] channel in
            if let channel { return channel.send(message, completion: completion) }
            let failure = TransportError(
                .cancelled, phase: .sending, url: nil, message: "the WebSocket is no longer open")
            completion(.failure(self?.completionError ?? failure))
        }
    }

    /// Closes the WebSocket with the closing handshake.
    ///
    /// Waiting messages are still sent, and messages that the server has sent are still received. After that, the request
    /// finishes without an error. If the WebSocket isn't open yet and has no messages to send, it ends immediately.
    ///
    /// - Parameters:
    ///   - closeCode: The reason. If RFC 6455 doesn't allow the code in a close frame, the code is omitted.
    ///   - reason: Text of at most 123 bytes in UTF-8. Longer text is truncated. The default is nil.
    @discardableResult
    public func close(sending closeCode: WebSocketCloseCode, reason: Data? = nil) -> Self {
        messages.willClose()
        let pendingConnection = messages.pendingConnection
        guard pendingConnection.connection != nil || pendingConnection.isAwaited else { return cancel() }
        pendingConnection.whenOpen { channel in channel?.close(closeCode, reason: reason) }
        return self
    }

    /// Ends the request immediately, without notifying the server. If the WebSocket is already closing, the request ends when
    /// the closing handshake is complete, or after ten seconds.
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
    ///   - onResponse: Called once, when the answer has arrived or can no longer arrive. If the WebSocket isn't open, the result is
    ///     `unsent`.
    @preconcurrency
    public func sendPing(
        respondingOn queue: DispatchQueue = .main, onResponse: @escaping @Sendable (PingResponse) -> Void
    ) {
        guard let channel = messages.pendingConnection.connection else { return queue.async { onResponse(.unsent) } }
        channel.ping { response in queue.async { onResponse(response) } }
    }
}

// MARK: - Values

extension WebSocketRequest {
    /// The settings of a WebSocket.
    public struct Configuration: Sendable, Hashable {
        /// The subprotocol to offer (RFC 6455, section 1.9), or nil for none. To offer several subprotocols, set the
        /// `Sec-WebSocket-Protocol` header.
        public let `protocol`: String?
        /// The maximum size of a message after decompression, in bytes. A longer message ends the request.
        public let maximumMessageSize: Int
        /// The time between pings, in seconds, or nil for none. If the server sends nothing for this time after a ping, the
        /// request fails. Time in which a handler runs doesn't count.
        public let pingInterval: TimeInterval?

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - protocol: The subprotocol. The default is none.
        ///   - maximumMessageSize: The maximum size of a message, in bytes. The default is 1 MiB.
        ///   - pingInterval: The time between pings, in seconds. The default is nil.
        public init(
            protocol: String? = nil, maximumMessageSize: Int = 1_048_576, pingInterval: TimeInterval? = nil
        ) {
            self.protocol = `protocol`
            self.maximumMessageSize = maximumMessageSize
            self.pingInterval = pingInterval
        }

        /// A configuration with no subprotocol, messages of up to 1 MiB, and no pings.
        public static var `default`: Self { Self() }
        /// Returns the default configuration with a subprotocol.
        public static func `protocol`(_ protocol: String) -> Self { Self(protocol: `protocol`) }
        /// Returns the default configuration with another maximum size of a message, in bytes.
        public static func maximumMessageSize(_ maximumMessageSize: Int) -> Self {
            Self(maximumMessageSize: maximumMessageSize)
        }
        /// Returns the default configuration with pings at an interval, in seconds.
        public static func pingInterval(_ pingInterval: TimeInterval) -> Self { Self(pingInterval: pingInterval) }
    }

    /// The result of a ping.
    public enum PingResponse: Sendable {
        /// The answer to a ping.
        public struct Pong: Sendable {
            /// The time when the ping was sent.
            public let start: Date
            /// The time between the ping and its answer, in seconds.
            public let latency: TimeInterval
            /// The time when the answer arrived.
            public var end: Date { start.addingTimeInterval(latency) }
        }

        /// The ping was answered.
        case pong(Pong)
        /// The WebSocket ended before an answer arrived.
        case error(any Error)
        /// The ping wasn't sent, because the WebSocket wasn't open.
        case unsent
    }

    /// The end of a WebSocket. It contains no error if either side closed the WebSocket. If the server accepted the WebSocket,
    /// the response's status is 101, or 200 over HTTP/2.
    public typealias Completion = DataStreamRequest.Completion

    /// An event of a WebSocket, with methods to respond to it.
    public struct Event<Success: Sendable, Failure: Error>: Sendable {
        /// The kinds of events.
        public enum Kind: Sendable {
            /// The WebSocket has opened with this subprotocol. This event occurs again after a retry.
            case connected(protocol: String?)
            /// A message arrived.
            case receivedMessage(Success)
            /// A message arrived that the serializer couldn't decode. The WebSocket stays open.
            case serializerFailed(Failure)
            /// Either side closed the WebSocket. Contains the server's close code.
            case disconnected(closeCode: WebSocketCloseCode, reason: Data?)
            /// The request has finished. No other event follows.
            case completed(Completion)
        }

        weak var socket: WebSocketRequest?
        /// The event.
        public let kind: Kind

        init(_ kind: Kind, of socket: WebSocketRequest?) {
            self.kind = kind
            self.socket = socket
        }

        /// The message, or nil if the event isn't a message.
        public var message: Success? { if case .receivedMessage(let message) = kind { message } else { nil } }

        /// Closes the WebSocket. See ``WebSocketRequest/close(sending:reason:)-(WebSocketCloseCode,_)``.
        public func close(sending closeCode: WebSocketCloseCode, reason: Data? = nil) {
            socket?.close(sending: closeCode, reason: reason)
        }

        /// Closes the WebSocket with one of Foundation's close codes.
        @_disfavoredOverload
        public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
            socket?.close(sending: WebSocketCloseCode(closeCode), reason: reason)
        }

        /// Ends the request immediately. See ``WebSocketRequest/cancel()``.
        public func cancel() { socket?.cancel() }

        /// Sends a ping. See ``WebSocketRequest/sendPing(respondingOn:onResponse:)``.
        @preconcurrency
        public func sendPing(
            respondingOn queue: DispatchQueue = .main, onResponse: @escaping @Sendable (PingResponse) -> Void
        ) {
            guard let socket else { return queue.async { onResponse(.unsent) } }
            socket.sendPing(respondingOn: queue, onResponse: onResponse)
        }
    }
}

// MARK: - Close codes

/// The reason for closing a WebSocket (RFC 6455, section 7.4). Applications can use the codes from 4000 to 4999.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The numeric code.
    public let rawValue: Int

    /// Creates a close code from a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Creates a close code from Foundation's type.
    public init(_ closeCode: URLSessionWebSocketTask.CloseCode) { self.init(rawValue: closeCode.rawValue) }

    /// Foundation's close code, or nil for a code that Foundation doesn't define, such as an application's.
    public var closeCode: URLSessionWebSocketTask.CloseCode? { .init(rawValue: rawValue) }

    /// No code.
    public static let invalid = Self(rawValue: 0)
    /// The connection has fulfilled its purpose.
    public static let normalClosure = Self(rawValue: 1000)
    /// The server is shutting down, or the client has left the page.
    public static let goingAway = Self(rawValue: 1001)
    /// The other side violated the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// A message had a type that isn't accepted.
    public static let unsupportedData = Self(rawValue: 1003)
    /// The other side sent no code. This code is never sent.
    public static let noStatusReceived = Self(rawValue: 1005)
    /// The connection ended without a close frame. This code is never sent.
    public static let abnormalClosure = Self(rawValue: 1006)
    /// A message was malformed, such as text that isn't valid UTF-8.
    public static let invalidFramePayloadData = Self(rawValue: 1007)
    /// A message violated a policy.
    public static let policyViolation = Self(rawValue: 1008)
    /// A message was too long.
    public static let messageTooBig = Self(rawValue: 1009)
    /// The server doesn't support an extension that the client requires.
    public static let mandatoryExtensionMissing = Self(rawValue: 1010)
    /// The server encountered an unexpected condition.
    public static let internalServerError = Self(rawValue: 1011)
    /// The TLS handshake failed. This code is never sent.
    public static let tlsHandshakeFailure = Self(rawValue: 1015)
}
