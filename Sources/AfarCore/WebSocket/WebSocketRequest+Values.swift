public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension WebSocketRequest {
    /// How a WebSocket is.
    public struct Configuration: Sendable, Hashable {
        /// The subprotocol that is offered (RFC 6455, section 1.9); nil for none. Several are offered by the header.
        public let `protocol`: String?
        /// How many bytes a message may have, decompressed. One that is longer ends the request.
        public let maximumMessageSize: Int
        /// The time between pings, in seconds; nil for none. When nothing comes for so long after a ping, though a handler
        /// waits for it, the request fails.
        public let pingInterval: TimeInterval?

        /// Makes a configuration.
        ///
        /// - Parameters:
        ///   - protocol: The subprotocol. The default is none.
        ///   - maximumMessageSize: In bytes. The default is 1 MiB.
        ///   - pingInterval: In seconds. The default is nil.
        public init(
            protocol: String? = nil, maximumMessageSize: Int = 1_048_576, pingInterval: TimeInterval? = nil
        ) {
            self.protocol = `protocol`
            self.maximumMessageSize = maximumMessageSize
            self.pingInterval = pingInterval
        }

        /// No subprotocol, messages of up to 1 MiB, no pings.
        public static var `default`: Self { Self() }
        /// The default with a subprotocol.
        public static func `protocol`(_ protocol: String) -> Self { Self(protocol: `protocol`) }
        /// The default with another limit for messages, in bytes.
        public static func maximumMessageSize(_ maximumMessageSize: Int) -> Self {
            Self(maximumMessageSize: maximumMessageSize)
        }
        /// The default with pings, which are so many seconds apart.
        public static func pingInterval(_ pingInterval: TimeInterval) -> Self { Self(pingInterval: pingInterval) }
    }

    /// What came of a ping.
    public enum PingResponse: Sendable {
        /// The answer to a ping.
        public struct Pong: Sendable {
            /// When the ping was sent.
            public let start: Date
            /// How long the answer took, in seconds.
            public let latency: TimeInterval
            /// When the answer came.
            public var end: Date { start.addingTimeInterval(latency) }
        }

        /// It was answered.
        case pong(Pong)
        /// The WebSocket ended before an answer came.
        case error(any Error)
        /// The WebSocket was not open.
        case unsent
    }

    /// How a WebSocket ended: with an error, unless it was closed. The response's status is 101 when the server has agreed.
    public typealias Completion = DataStreamRequest.Completion

    /// What happens on a WebSocket, and a way to answer it.
    public struct Event<Success: Sendable, Failure: Error>: Sendable {
        /// What happened.
        public enum Kind: Sendable {
            /// The WebSocket is open, with this subprotocol. After a retry it is so once more.
            case connected(protocol: String?)
            /// A message came.
            case receivedMessage(Success)
            /// A message came of which nothing could be made. The WebSocket goes on.
            case serializerFailed(Failure)
            /// The WebSocket was closed, by either side, with the server's code.
            case disconnected(closeCode: WebSocketCloseCode, reason: Data?)
            /// The request is over; nothing comes after this.
            case completed(Completion)
        }

        weak var socket: WebSocketRequest?
        /// What happened.
        public let kind: Kind

        init(_ kind: Kind, of socket: WebSocketRequest?) {
            self.kind = kind
            self.socket = socket
        }

        /// The message, if one came.
        public var message: Success? { if case .receivedMessage(let message) = kind { message } else { nil } }

        /// Closes the WebSocket: see ``WebSocketRequest/close(sending:reason:)-(WebSocketCloseCode,_)``.
        public func close(sending closeCode: WebSocketCloseCode, reason: Data? = nil) {
            socket?.close(sending: closeCode, reason: reason)
        }

        /// The same with Foundation's type.
        @_disfavoredOverload
        public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
            socket?.close(sending: WebSocketCloseCode(closeCode), reason: reason)
        }

        /// Ends the request at once: see ``WebSocketRequest/cancel()``.
        public func cancel() { socket?.cancel() }

        /// Sends a ping: see ``WebSocketRequest/sendPing(respondingOn:onResponse:)``.
        @preconcurrency
        public func sendPing(
            respondingOn queue: DispatchQueue = .main, onResponse: @escaping @Sendable (PingResponse) -> Void
        ) {
            guard let socket else { return queue.async { onResponse(.unsent) } }
            socket.sendPing(respondingOn: queue, onResponse: onResponse)
        }
    }
}
