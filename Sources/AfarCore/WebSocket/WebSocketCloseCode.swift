#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
