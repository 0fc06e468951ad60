public import Foundation
public import HTTPTypes

/// The settings for one exchange. A session creates them once, as a template, and adjusts a copy for each request.
public struct ExchangeOptions: Sendable {
    /// A TLS version.
    public enum TLSVersion: Int, Sendable, Comparable {
        /// TLS 1.2 (RFC 5246).
        case v12 = 12
        /// TLS 1.3 (RFC 8446).
        case v13 = 13

        /// Returns a Boolean value that indicates whether the first version is older than the second.
        public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// The HTTP version of a request.
    public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
        /// The transport decides. `HTTPTransport`, which sessions on Linux use, offers HTTP/2 over TLS, as with ``http2``. A
        /// `CurlTransport` does so with libcurl 8.17 or later, and otherwise uses HTTP/1.1.
        case automatic
        /// HTTP/1.1 (RFC 9112).
        case http1
        /// HTTP/2 (RFC 9113) over TLS if the server supports it (ALPN, RFC 7301). Otherwise HTTP/1.1. Connections for WebSockets and
        /// other protocols also use HTTP/1.1.
        ///
        /// Over a `CurlTransport`, requests for which libcurl's HTTP/2 isn't suitable also use HTTP/1.1. In libcurl before 8.1, HTTP/2 has
        /// bugs that Afar can't work around. For example, a truncated body without a length can be treated as complete. The
        /// networking guide lists these bugs.
        case http2
        /// HTTP/2 only, even without TLS, for servers that are known to support it.
        case http2PriorKnowledge
        /// HTTP/3 (RFC 9114) only.
        case http3
    }

    /// The HTTP version. The default is ``HTTPVersion/automatic``. With a version that the transport doesn't support, the
    /// exchange fails.
    public var httpVersion = HTTPVersion.automatic
    /// The maximum total time for resolving the host, connecting, and securing the connection, in seconds. The default is 30.
    public var connectTimeout: TimeInterval = 30
    /// The maximum time without data in either direction, in seconds. After that, the exchange fails. The timer doesn't run while
    /// the exchange waits for a connection or is suspended. The default is 60.
    public var idleTimeout: TimeInterval = 60
    /// The transfer rate up to which an exchange counts as idle, in bytes per second, averaged over ``idleTimeout``. The
    /// default is 1; 0 means that any byte keeps the exchange alive.
    ///
    /// The limit prevents a server from keeping an exchange alive with a few bytes. It doesn't apply to streamed bodies,
    /// because their reader can observe the progress. The limit has an effect only if the transport has the feature
    /// ``TransportCapabilities/Features/minimumTransferRate``.
    public var minimumTransferRate: Double = 1
    /// The maximum duration of the exchange, in seconds, including waiting and suspension. The default is seven days.
    public var totalTimeout: TimeInterval = 7 * 24 * 60 * 60

    /// The source of time for delays and expiration dates. The default is the system's time. Transports ignore it, except for
    /// `MockTransport`.
    public var timeSource = TimeSource.system

    /// Header fields that are sent unless the request has a field of the same name.
    public var defaultFields: DefaultFields = .none
    /// Whether a request without an `Accept` field is sent without one. By default, transports add `Accept: */*`. Foundation's
    /// transport always adds it.
    package var omitsAccept = false
    /// A Boolean value that indicates whether compressed bodies are decoded (`Content-Encoding`). The default is true. See
    /// ``ContentDecoder``.
    ///
    /// If it is false, bodies are delivered as they arrived. On Linux, `Accept-Encoding` is still sent. To request a body without a content
    /// coding, set this field to `identity`. A body with an unknown coding, or a partial encoded body (status 206), is never decoded.
    ///
    /// With `URLSessionTransport`, Foundation always decodes, and handles unknown codings in its own way. If this property is false,
    /// requests without their own `Accept-Encoding` send `identity`, and an encoded response fails.
    public var decodesContent = true
    /// The limit at which decoding a body fails with ``TransportError/Code-swift.struct/responseTooLarge``; nil for no limit. By default, a
    /// body fails if it has more than 1 GiB of decoded bytes, and more than 1,000 decoded bytes per received byte.
    public var decompressionLimit: DecompressionLimit? = DecompressionLimit()

    /// The maximum total size of the response's head, trailers and informational heads, in bytes. The default is 256 KiB. A proxy's
    /// response to CONNECT always has the default limits.
    public var maximumResponseHeadSize = 256 * 1024
    /// The maximum number of fields in a response's head, at most 65,000. The default is 1,000.
    public var maximumFieldCount = 1_000
    /// The maximum number of informational (1xx) responses before the final one. The default is 20.
    public var maximumInformationalResponses = 20

    /// The lowest TLS version accepted, from servers and from proxies over TLS. The default is 1.2.
    public var minimumTLSVersion: TLSVersion = .v12

    /// A Boolean value that indicates whether a body without a length is complete when the server closes the TCP connection without a TLS
    /// alert. The alert is `close_notify` (RFC 9112, section 9.8). Some servers omit it, but without it, anyone on the network can truncate
    /// the body.
    ///
    /// The default is false: on Linux, the exchange fails with ``TransportError/Code-swift.struct/bodyIncomplete``. Bodies that
    /// have a `Content-Length` or are chunked don't need the alert.
    public var acceptsBodiesWithoutTLSCloseNotify = false

    /// The client identity and the evaluation of server certificates; nil for the transport's defaults.
    package var security: ConnectionSecurity?
    /// The credential and protocol for a transport with ``TransportCapabilities/Features/connectionAuthentication``. To read
    /// it, use ``Exchange/connectionAuthentication``, which is nil if the exchange has a different origin.
    package var connectionAuthentication: ConnectionAuthentication?

    /// If not nil, the request isn't sent. Instead, the exchange opens a connection, unless the host has at least this many connections.
    package var preconnectionLimit: Int?

    /// The settings for reaching the host, such as proxies and interfaces. By default, the transport decides.
    public var network: NetworkSettings {
        get { networkBox?.settings ?? .none }
        set { networkBox = NetworkBox(newValue, resolver) }
    }
    /// Boxed, because options are copied often and most have neither network settings nor a resolver.
    package private(set) var networkBox: NetworkBox?

    /// Looks up the addresses of hosts and proxies. The default is nil: the operating system's resolver. See ``HostResolver``.
    ///
    /// Changing ``network`` doesn't replace the resolver. If a transport doesn't have the feature
    /// ``TransportCapabilities/Features/resolver``, the exchange fails before it is sent, with
    /// ``TransportError/Code-swift.struct/unsupportedByTransport``.
    public var resolver: (any HostResolver)? {
        get { networkBox?.resolver }
        set { networkBox = NetworkBox(network, newValue) }
    }

    /// Decides which addresses the exchange can connect to. The default is nil: any address. See ``ConnectionPolicy``.
    ///
    /// Changing ``network`` doesn't replace the policy. If a transport doesn't have the feature
    /// ``TransportCapabilities/Features/connectionPolicy``, the exchange fails before it is sent, with
    /// ``TransportError/Code-swift.struct/unsupportedByTransport``.
    public var connectionPolicy: (any ConnectionPolicy)?

    /// Limits the rate at which bodies are sent and received. All exchanges with the same limiter share its rates. The default is nil: no
    /// limit. Sessions apply the limiter to requests, but not to WebSockets and raw connections.
    ///
    /// If a transport doesn't have the feature ``TransportCapabilities/Features/suspension``, the exchange fails before it is sent, with
    /// ``TransportError/Code-swift.struct/unsupportedByTransport``.
    public var bandwidthLimiter: BandwidthLimiter?

    /// Whether a policy or a resolver determines the addresses.
    package var restrictsAddresses: Bool { connectionPolicy != nil || networkBox?.resolver != nil }

    /// The longest time to wait for other work of this process before anything is sent. It is the shortest of the timeouts.
    package var longestWait: Duration { Duration(timeout: min(connectTimeout, idleTimeout, totalTimeout)) }

    /// The subclasses of `URLProtocol` that can handle the request, in order of precedence. To use Foundation's own classes, include them.
    /// The default is nil: no class is used.
    ///
    /// Only `URLSessionTransport` uses them. With any other transport, a class that isn't Foundation's own makes the exchange
    /// fail before it is sent, with ``TransportError/Code-swift.struct/unsupportedByTransport``. To answer requests without a
    /// server, use `MockTransport`.
    public var protocolClasses: [AnyClass]?

    /// Creates the default options.
    public init() {}
}

/// Network settings and a resolver that are copied by reference.
package final class NetworkBox: Sendable {
    package let settings: NetworkSettings
    package let resolver: (any HostResolver)?
    let requiredFeatures: TransportCapabilities.Features

    /// Returns nil if every choice is left to the transport.
    init?(_ settings: NetworkSettings, _ resolver: (any HostResolver)?) {
        let isDefault = settings.isDefault
        guard !isDefault || resolver != nil else { return nil }
        (self.settings, self.resolver) = (settings, resolver)
        var features: TransportCapabilities.Features = isDefault ? [] : .networkSettings
        if resolver != nil { features.insert(.resolver) }
        requiredFeatures = features
    }
}

extension Duration {
    /// Creates a duration from a timeout in seconds, clamped to 0...1e9 (about 30 years) so that adding it to an instant can't
    /// overflow. NaN becomes the upper limit.
    package init(timeout seconds: TimeInterval) {
        self = .seconds(seconds < 1e9 ? max(seconds, 0) : 1e9)
    }
}

/// Header fields that a session sends with every request, created once and shared.
///
/// It is a class, so that a transport can store its own prepared form of the fields in the shared object.
public final class DefaultFields: Sendable {
    /// No fields.
    public static let none = DefaultFields(HTTPFields())

    /// The fields, in the order in which they are sent.
    public let fields: HTTPFields
    @usableFromInline package let prepared = Locked<(any AnyObject & Sendable)?>(nil)

    /// Creates shared fields.
    public init(_ fields: HTTPFields) {
        self.fields = fields
    }

    /// Returns a transport's own form of these fields, which is created on the first call and stored.
    @inlinable
    package func prepared<Form: AnyObject & Sendable>(_ make: (HTTPFields) -> Form) -> Form {
        if let form = prepared.withLock({ $0 }) as? Form { return form }
        let form = make(fields)
        prepared.withLock { $0 = form }
        return form
    }
}

/// Authentication that a transport performs itself by exchanging several messages over one connection. The connection then belongs to
/// the authenticated user (RFC 4559, section 6).
///
/// It is a class because options are copied often.
package final class ConnectionAuthentication: Sendable {
    package enum Scheme: String, Sendable {
        /// GSS-API (RFC 4559) with the process's ticket, usually from Kerberos.
        case negotiate
        /// Microsoft's NTLM, with a user name such as `DOMAIN\user` and a password.
        case ntlm
    }

    package let scheme: Scheme
    package let user: String
    package let password: String
    package let origin: Origin

    package init(_ scheme: Scheme, user: String, password: String, origin: Origin) {
        self.scheme = scheme
        self.user = user
        self.password = password
        self.origin = origin
    }
}

extension ConnectionAuthentication: CustomStringConvertible, CustomReflectable {
    /// The scheme. A description never contains the credential.
    package var description: String { scheme.rawValue }

    /// Empty, so that printing an exchange doesn't print a password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
