public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension WebSocketRequest {
    /// The settings of a WebSocket.
    public struct Configuration: Sendable, Hashable {
        /// The subprotocol to offer (RFC 6455, section 1.9), or nil for none. To offer several, set the header.
        public let `protocol`: String?
        /// The maximum size of a message after decompression, in bytes. A longer message ends the request.
        public let maximumMessageSize: Int
        /// The time between pings, in seconds, or nil for none. If the server sends nothing for this time after a ping, the
        /// request fails. The time during which a handler is busy doesn't count.
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
            /// When the ping was sent.
            public let start: Date
            /// The time between the ping and its answer, in seconds.
            public let latency: TimeInterval
            /// When the answer arrived.
            public var end: Date { start.addingTimeInterval(latency) }
        }

        /// The ping was answered.
        case pong(Pong)
        /// The WebSocket ended before an answer arrived.
        case error(any Error)
        /// The ping wasn't sent, because the WebSocket wasn't open.
        case unsent
    }

    /// The end of a WebSocket. It contains an error unless the WebSocket was closed. If the server accepted the WebSocket, the
    /// response's status is 101.
    public typealias Completion = DataStreamRequest.Completion

    /// An event of a WebSocket, with methods to respond to it.
    public struct Event<Success: Sendable, Failure: Error>: Sendable {
        /// The kinds of events.
        public enum Kind: Sendable {
            /// The WebSocket has opened, with this subprotocol. After a retry, this event occurs again.
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
