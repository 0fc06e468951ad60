#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Why a WebSocket is closed (RFC 6455, section 7.4). Applications have the codes from 4000 to 4999 for themselves.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number.
    public let rawValue: Int

    /// Makes a code of a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Makes a code of Foundation's.
    public init(_ closeCode: URLSessionWebSocketTask.CloseCode) { self.init(rawValue: closeCode.rawValue) }

    /// Foundation's code; nil for one that it does not know, an application's say.
    public var closeCode: URLSessionWebSocketTask.CloseCode? { .init(rawValue: rawValue) }

    /// No code.
    public static let invalid = Self(rawValue: 0)
    /// The purpose is fulfilled.
    public static let normalClosure = Self(rawValue: 1000)
    /// A server goes down, or a page is left.
    public static let goingAway = Self(rawValue: 1001)
    /// The other side broke the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// A kind of message came that is not accepted.
    public static let unsupportedData = Self(rawValue: 1003)
    /// The other side has said no code. It is never sent.
    public static let noStatusReceived = Self(rawValue: 1005)
    /// The connection ended without a close. It is never sent.
    public static let abnormalClosure = Self(rawValue: 1006)
    /// A message was not what it should be, a text no UTF-8 say.
    public static let invalidFramePayloadData = Self(rawValue: 1007)
    /// A message was against somebody's rules.
    public static let policyViolation = Self(rawValue: 1008)
    /// A message was too long.
    public static let messageTooBig = Self(rawValue: 1009)
    /// The server does not agree to an extension that the client needs.
    public static let mandatoryExtensionMissing = Self(rawValue: 1010)
    /// The server met with something unexpected.
    public static let internalServerError = Self(rawValue: 1011)
    /// The TLS handshake failed. It is never sent.
    public static let tlsHandshakeFailure = Self(rawValue: 1015)
}
