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
        /// Reports trailer fields.
        public static let trailers = Features(rawValue: 1 << 10)
        /// Sends any method token unchanged.
        public static let anyMethod = Features(rawValue: 1 << 11)

        /// Passes requests to ``ExchangeOptions/protocolClasses``.
        public static let protocolClasses = Features(rawValue: 1 << 12)
        /// Enforces ``ExchangeOptions/minimumTransferRate``.
        public static let minimumTransferRate = Features(rawValue: 1 << 13)
        /// Sends requests through proxies from its own configuration.
        public static let proxies = Features(rawValue: 1 << 14)
        /// Authenticates connections with Negotiate (RFC 4559) and NTLM. `CurlTransport` and transports that wrap it do.
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

        static let names: [(Features, String)] = [
            (.fileUpload, "file upload"), (.streamedUpload, "streamed upload"), (.fileDelivery, "delivery to a file"),
            (.streamedDelivery, "streamed delivery"), (.backpressure, "backpressure"), (.suspension, "suspension"),
            (.metrics, "metrics"), (.connectTimeout, "a connect timeout"),
            (.minimumTLSVersion, "a minimum TLS version above 1.2"),
            (.informationalResponses, "informational responses"), (.trailers, "trailers"), (.anyMethod, "any method"),
            (.protocolClasses, "protocolClasses"), (.minimumTransferRate, "a minimum transfer rate"),
            (.proxies, "proxies"), (.connectionAuthentication, "Negotiate and NTLM authentication"),
            (.serverTrust, "the evaluation of server trust"), (.clientIdentity, "client identities"),
            (.networkSettings, "network settings (proxies, Unix sockets, interfaces)"),
            (.http2, "a demand for HTTP/2"), (.http3, "HTTP/3"),
            (.connections, "connections for other protocols (WebSocket, raw streams)"),
        ]

        /// What to use instead if one of these features is missing.
        fileprivate var advice: String {
            guard contains(.protocolClasses) else { return "" }
            return ". MockTransport answers requests without a server, URLSessionTransport hands them to such classes"
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
            message: "the \(name) transport cannot do: \(missing.names.joined(separator: ", "))\(missing.advice)"
        )
    }
}
