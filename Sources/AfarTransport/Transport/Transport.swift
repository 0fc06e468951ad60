/// A type that sends an HTTP request to a server and returns its response.
///
/// A transport is the lowest layer of a session. It uses the network directly, or no network at all in a test. It performs **one
/// exchange**: one request, one final response. It doesn't follow redirects, answer authentication challenges on its own, or store cookies
/// or responses. The layers above the transport implement these features for all transports.
///
/// Write a transport to replace how bytes are sent. Wrap another transport to observe or change every exchange:
///
/// ```swift
/// import AfarTransport
/// import HTTPTypes
///
/// struct Stamped: Transport {
///     var base: any Transport
///     var capabilities: TransportCapabilities { base.capabilities }
///
///     func send(_ exchange: Exchange) async throws -> TransportResponse {
///         var exchange = exchange
///         exchange.request.headerFields[.date] = "Sat, 01 Aug 2026 12:00:00 GMT"
///         return try await base.send(exchange)
///     }
/// }
/// ```
///
/// If a change needs information from the session, such as a token, write a ``RequestInterceptor`` instead.
public protocol Transport: Sendable {
    /// The features of this transport.
    ///
    /// A request that requires other features fails with a typed error before a byte is sent.
    var capabilities: TransportCapabilities { get }

    /// Performs one exchange.
    ///
    /// This method can be called from any task, and concurrently. Canceling the calling task ends the exchange promptly, in any
    /// phase, with ``TransportError/Code-swift.struct/cancelled``.
    ///
    /// - Parameter exchange: The request, the destination of the response's body, and the settings. The exchange retains the session's
    ///   request, so don't keep the exchange after it has ended.
    /// - Returns: The final response. With ``ResponseDelivery/collect(limit:)`` and ``ResponseDelivery/file(descriptor:limit:)``,
    ///   the body is complete. With ``ResponseDelivery/stream(highWaterMark:)`` and ``ResponseDelivery/connection``, the response
    ///   is returned as soon as its head has arrived.
    /// - Throws: A ``TransportError``. Any other error is treated as a ``TransportError`` with an unknown code.
    func send(_ exchange: Exchange) async throws -> TransportResponse

    /// Closes connections that no exchange uses. Running exchanges continue. The default implementation does nothing.
    func closeIdleConnections()

    /// The current connections; nil (the default) if the transport doesn't track its connections. If your transport wraps another one,
    /// forward this property and ``closeIdleConnections()``.
    var connectionStatistics: ConnectionStatistics? { get async }
}

extension Transport {
    /// The default implementation leaves all connections open.
    public func closeIdleConnections() {}

    /// The default implementation returns nil.
    public var connectionStatistics: ConnectionStatistics? { get async { nil } }
}

// MARK: - Capabilities

/// The features that a transport supports. Declare only features that work, because requests depend on them.
public struct TransportCapabilities: Sendable, Hashable {
    /// Features that not every transport has.
    public struct Features: OptionSet, Sendable, Hashable {
        /// The raw bits of the set.
        public let rawValue: UInt32

        /// Creates a set from its raw bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Sends a file without holding it in memory.
        public static let fileUpload = Features(rawValue: 1 << 0)
        /// Sends a body that is produced while it is sent.
        public static let streamedUpload = Features(rawValue: 1 << 1)
        /// Writes the response's body to a file descriptor.
        public static let fileDelivery = Features(rawValue: 1 << 2)
        /// Delivers the response's body chunk by chunk.
        public static let streamedDelivery = Features(rawValue: 1 << 3)
        /// Slows down the server when the reader of a streamed body is slow.
        public static let backpressure = Features(rawValue: 1 << 4)
        /// Suspends a running exchange.
        public static let suspension = Features(rawValue: 1 << 5)
        /// Measures the phases of an exchange.
        public static let metrics = Features(rawValue: 1 << 6)
        /// Enforces ``ExchangeOptions/connectTimeout`` separately from the other timeouts.
        public static let connectTimeout = Features(rawValue: 1 << 7)
        /// Enforces a TLS version above 1.2.
        public static let minimumTLSVersion = Features(rawValue: 1 << 8)
        /// Reports informational (1xx) responses.
        public static let informationalResponses = Features(rawValue: 1 << 9)
        /// Reports the trailer fields of responses.
        public static let trailers = Features(rawValue: 1 << 10)
        /// Sends any method token unchanged.
        public static let anyMethod = Features(rawValue: 1 << 11)

        /// Passes requests to ``ExchangeOptions/protocolClasses``.
        public static let protocolClasses = Features(rawValue: 1 << 12)
        /// Enforces ``ExchangeOptions/minimumTransferRate``.
        public static let minimumTransferRate = Features(rawValue: 1 << 13)
        /// Sends requests through proxies from its own configuration.
        public static let proxies = Features(rawValue: 1 << 14)
        /// Authenticates connections with Negotiate (RFC 4559) and NTLM. `CurlTransport` and transports that wrap it have this feature.
        public static let connectionAuthentication = Features(rawValue: 1 << 15)
        /// Lets a session evaluate a server's certificates before a byte of the request is sent.
        public static let serverTrust = Features(rawValue: 1 << 16)
        /// Presents a ``ClientIdentity`` to servers that request one.
        public static let clientIdentity = Features(rawValue: 1 << 17)
        /// Connects to hosts according to ``NetworkSettings``: through proxies, over Unix sockets and so on.
        public static let networkSettings = Features(rawValue: 1 << 18)
        /// Supports HTTP/2 (RFC 9113).
        public static let http2 = Features(rawValue: 1 << 19)
        /// Supports HTTP/3 (RFC 9114).
        public static let http3 = Features(rawValue: 1 << 20)

        /// Delivers connections for protocols other than HTTP: ``ResponseDelivery/connection``.
        public static let connections = Features(rawValue: 1 << 21)
        /// Sends a body while it receives the response: ``RequestBodyStream/isDuplex``.
        public static let duplex = Features(rawValue: 1 << 22)
        /// Sends trailer fields: ``RequestBodyStream/trailers``.
        public static let requestTrailers = Features(rawValue: 1 << 23)
        /// Opens connections before requests need them.
        package static let preconnections = Features(rawValue: 1 << 24)
        /// Enforces a ``ConnectionPolicy`` for every connection that it opens, with the address to which it connects.
        public static let connectionPolicy = Features(rawValue: 1 << 25)
        /// Calls a ``HostResolver`` for every name that it looks up.
        public static let resolver = Features(rawValue: 1 << 26)

        static let names: [(Features, String)] = [
            (.fileUpload, "file upload"), (.streamedUpload, "streamed upload"), (.fileDelivery, "delivery to a file"),
            (.streamedDelivery, "streamed delivery"), (.backpressure, "backpressure"), (.suspension, "suspension"),
            (.metrics, "metrics"), (.connectTimeout, "a connect timeout"),
            (.minimumTLSVersion, "a minimum TLS version above 1.2"),
            (.informationalResponses, "informational responses"), (.trailers, "trailers"), (.anyMethod, "any method"),
            (.protocolClasses, "protocolClasses"), (.minimumTransferRate, "a minimum transfer rate"),
            (.proxies, "proxies"), (.connectionAuthentication, "Negotiate and NTLM authentication"),
            (.serverTrust, "the evaluation of server trust"), (.clientIdentity, "client identities"),
            (.networkSettings, "network settings (proxies, Unix sockets, interfaces, address families, keep-alive)"),
            (.http2, "HTTP/2"), (.http3, "HTTP/3"),
            (.connections, "connections for other protocols (WebSocket, raw streams)"),
            (.duplex, "bodies that depend on the response (duplex)"), (.requestTrailers, "request trailers"),
            (.preconnections, "opening connections in advance"),
            (.connectionPolicy, "connection policies"), (.resolver, "resolvers"),
        ]

        /// A sentence for error messages that names an alternative to a missing feature.
        fileprivate var advice: String {
            if contains(.protocolClasses) {
                return
                    ". Use MockTransport to answer requests without a server, or URLSessionTransport for such classes"
            }
            return contains(.suspension) ? ", which a bandwidth limiter requires" : ""
        }

        /// The names of the features, in words.
        public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }
    }

    /// The transport's name, as it appears in errors, such as "curl".
    public var name: String
    /// The features that the transport supports.
    public var features: Features
    /// The content codings that the transport decodes, best first, as they appear in `Accept-Encoding` (RFC 9110, section
    /// 12.5.3).
    public var contentCodings: [String]

    /// Creates a description of a transport.
    public init(name: String, features: Features, contentCodings: [String] = []) {
        self.name = name
        self.features = features
        self.contentCodings = contentCodings
    }

    /// Throws ``TransportError/Code-swift.struct/unsupportedByTransport`` if the exchange requires an unsupported feature.
    public func check(_ exchange: Exchange) throws {
        let missing = exchange.requiredFeatures.subtracting(features)
        guard !missing.isEmpty else { return }
        throw TransportError(
            .unsupportedByTransport,
            phase: .queued,
            url: exchange.url,
            message: "the \(name) transport does not support \(missing.names.joined(separator: ", "))\(missing.advice)"
        )
    }
}

// MARK: - Several transports

/// A transport that combines several transports. It passes each exchange to the first transport that has the required features.
///
/// ```swift
/// let transport = FirstCapableTransport([HTTPTransport(), CurlTransport()])
/// let session = Session(transport: transport)
/// ```
///
/// Each transport keeps its own connections. If no transport supports an exchange, the exchange fails with the error of the last transport.
public struct FirstCapableTransport: Transport {
    /// The transports, in order of preference.
    public let transports: [any Transport]
    /// The features that at least one of the transports has, and the content codings that all of them decode.
    public let capabilities: TransportCapabilities

    /// Creates a transport from other transports, in order of preference. If the list is empty, all requests fail.
    public init(_ transports: [any Transport]) {
        self.transports = transports
        let all = transports.map(\.capabilities)
        capabilities = TransportCapabilities(
            name: all.map(\.name).joined(separator: " or "),
            features: all.reduce(into: []) { $0.formUnion($1.features) },
            contentCodings: all.first?.contentCodings.filter { coding in
                all.allSatisfy { $0.contentCodings.contains(coding) }
            } ?? [])
    }

    /// Performs one exchange over the first transport that supports it.
    ///
    /// - Throws: A ``TransportError``.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        let features = exchange.requiredFeatures
        let capable = transports.first { $0.capabilities.features.isSuperset(of: features) } ?? transports.last
        guard let capable else {
            throw TransportError(
                .unsupportedByTransport, phase: .queued, url: exchange.url,
                message: "the list of transports is empty")
        }
        // An earlier check of the combined features can have succeeded although no single transport has all of them.
        try capable.capabilities.check(exchange)
        return try await capable.send(exchange)
    }

    /// Closes the unused connections of all transports.
    public func closeIdleConnections() { for transport in transports { transport.closeIdleConnections() } }

    /// The connections of all transports, added up for each host; nil if no transport tracks its connections.
    public var connectionStatistics: ConnectionStatistics? {
        get async {
            var hosts: [ConnectionStatistics.Host]?
            for transport in transports {
                if let statistics = await transport.connectionStatistics { hosts = (hosts ?? []) + statistics.hosts }
            }
            return hosts.map { ConnectionStatistics(hosts: $0) }
        }
    }
}

// MARK: - Connection statistics

/// A snapshot of a transport's connections, by host.
public struct ConnectionStatistics: Sendable, Hashable, Codable {
    /// The connections to one host.
    public struct Host: Sendable, Hashable, Codable {
        /// The host's origin: `https://example.com`, with the port if it isn't the scheme's default.
        public let origin: String
        /// The number of open connections that no request uses.
        public let idle: Int
        /// The number of connections that requests use or that are being opened for them.
        public let inUse: Int
        /// The number of requests without a connection: they wait for their turn, or for the host's address.
        public let waiting: Int
        /// The number of all connections.
        public var open: Int { idle + inUse }

        /// Creates statistics of a host.
        public init(origin: String, idle: Int = 0, inUse: Int = 0, waiting: Int = 0) {
            self.origin = origin
            self.idle = idle
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    /// The hosts with connections or waiting requests, without duplicates, in alphabetical order.
    public let hosts: [Host]

    /// Creates statistics of hosts. Entries with the same origin are added up.
    public init(hosts: [Host]) {
        let sums = Dictionary(hosts.map { ($0.origin, $0) }) { first, second in
            Host(
                origin: first.origin, idle: first.idle + second.idle, inUse: first.inUse + second.inUse,
                waiting: first.waiting + second.waiting)
        }
        self.hosts = sums.values.sorted { $0.origin < $1.origin }
    }

    /// The number of open connections that no request uses.
    public var idle: Int { hosts.reduce(0) { $0 + $1.idle } }
    /// The number of connections that requests use or that are being opened for them.
    public var inUse: Int { hosts.reduce(0) { $0 + $1.inUse } }
    /// The number of requests without a connection.
    public var waiting: Int { hosts.reduce(0) { $0 + $1.waiting } }
    /// The number of all connections.
    public var open: Int { idle + inUse }
}

extension ConnectionStatistics: CustomStringConvertible {
    /// The hosts on one line.
    public var description: String { hosts.map(\.description).joined(separator: "; ") }
}

extension ConnectionStatistics.Host: CustomStringConvertible {
    /// The figures on one line: `https://example.com: 2 in use, 4 idle, 0 waiting`.
    public var description: String { "\(origin): \(inUse) in use, \(idle) idle, \(waiting) waiting" }
}
