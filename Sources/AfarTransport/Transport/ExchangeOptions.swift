public import Foundation

/// The rules for one exchange. A session makes these once, as a template, and adjusts a copy for each request.
public struct ExchangeOptions: Sendable {
    /// A version of TLS.
    public enum TLSVersion: Int, Sendable, Comparable {
        /// TLS 1.2 (RFC 5246).
        case v12 = 12
        /// TLS 1.3 (RFC 8446).
        case v13 = 13

        /// The older version is the lesser.
        public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// A version of HTTP that a request may take.
    public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
        /// As ``http2`` where the transport's HTTP/2 is fit for everything, otherwise as ``http1``. Over libcurl it is so from 8.17 on.
        case automatic
        /// HTTP/1.1 (RFC 9112).
        case http1
        /// HTTP/2 (RFC 9113) over TLS where the server agrees to that (ALPN, RFC 7301), HTTP/1.1 otherwise, and for requests that the
        /// transport's HTTP/2 is not fit for.
        ///
        /// The HTTP/2 of libcurl below 8.1 has faults that Afar can't correct. For example, a body without a length that is broken off
        /// can be a success. The guide to networking lists them.
        case http2
        /// HTTP/2 and nothing else, without TLS too, for servers that are known to speak it.
        case http2PriorKnowledge
        /// HTTP/3 (RFC 9114), and nothing else.
        case http3
    }

    /// The version of HTTP. The default is ``HTTPVersion/automatic``.
    public var httpVersion = HTTPVersion.automatic
    /// How long finding the host, connecting and securing the connection may take together, in seconds.
    /// The default is 30.
    public var connectTimeout: TimeInterval = 30
    /// How long nothing may arrive or leave, in seconds, before the exchange fails. It does not run while the exchange
    /// waits for a connection or is suspended. The default is 60.
    public var idleTimeout: TimeInterval = 60
    /// The rate, in bytes a second over the length of ``idleTimeout``, up to which an exchange counts as idle: a server that
    /// sends no more only keeps the exchange alive. It does not hold for a body that is streamed, which somebody watches
    /// while it comes. The default is 1; 0 means that any byte keeps the exchange alive.
    public var minimumTransferRate: Double = 1
    /// How long the exchange may take in all, in seconds, waiting and suspension included. The default is seven days.
    public var totalTimeout: TimeInterval = 7 * 24 * 60 * 60

    /// Header fields that are sent unless the request has a field of the same name.
    public var defaultFields: DefaultFields = .none
    /// Whether compressed bodies are decoded (`Content-Encoding`). The default is true. See ``ContentDecoder``.
    public var decodesContent = true
    /// When a body that is decoded has grown so much that the exchange fails, with
    /// ``TransportError/Code-swift.struct/responseTooLarge``. The default is more than 1 GiB that is more than 1,000 times
    /// what was received; nil means never.
    public var decompressionLimit: DecompressionLimit? = DecompressionLimit()

    /// The bytes that the response's head, trailers and informational heads may have in all. The default is 256 KiB.
    public var maximumHeadBytes = 256 * 1024
    /// The number of fields that a response's head may have. The default is 1,000.
    public var maximumFieldCount = 1_000
    /// The number of informational (1xx) responses accepted before the final one. The default is 20.
    public var maximumInformationalResponses = 20

    /// The lowest TLS version accepted. The default is 1.2.
    public var minimumTLSVersion: TLSVersion = .v12

    /// Whether a body without a length is complete when the server closes the TCP connection without a TLS alert (`close_notify`,
    /// RFC 9112, section 9.8). Some servers close so, but anyone on the network can cut off a body like that.
    ///
    /// The default is false: the exchange fails with ``TransportError/Code-swift.struct/bodyIncomplete``. Bodies that have a
    /// `Content-Length` or are chunked need no such alert.
    public var acceptsBodiesWithoutTLSCloseNotify = false

    /// What the connection has to be beyond that; nil where nothing is asked for.
    package var security: ConnectionSecurity?
    /// How a transport with ``TransportCapabilities/Features/connectionAuthentication`` authenticates; nil if it doesn't.
    package var connectionAuthentication: ConnectionAuthentication?

    /// How the request reaches its host. The default leaves that to the transport.
    public var network: NetworkSettings {
        get { networkBox?.settings ?? .none }
        set { networkBox = newValue.isDefault ? nil : NetworkBox(newValue) }
    }
    /// Apart, since options are copied often, and most have none.
    package private(set) var networkBox: NetworkBox?

    /// How long the exchange may wait for a turn of this process's own before anything is sent: the shortest timeout.
    package var longestWait: Duration { Duration(timeout: min(connectTimeout, idleTimeout, totalTimeout)) }

    /// The subclasses of `URLProtocol` that are asked, in this order, whether they answer a request, Foundation's own
    /// among them if they are to be asked too. The default is nil: nobody is asked.
    public var protocolClasses: [AnyClass]?

    /// Makes the default options.
    public init() {}
}

/// Network settings that are copied by reference.
package final class NetworkBox: Sendable {
    package let settings: NetworkSettings

    init(_ settings: NetworkSettings) { self.settings = settings }
}

extension Duration {
    /// A timeout in seconds, within what a clock can add up: from none at all to some thirty years, which is also what
    /// stands for no number.
    package init(timeout seconds: TimeInterval) {
        self = .seconds(seconds < 1e9 ? max(seconds, 0) : 1e9)
    }

    /// This duration within the same bounds. Beyond them `Task.sleep` traps.
    package var clampedToClock: Duration { min(max(self, .zero), .seconds(1e9)) }
}
