/// The features that a transport supports. Declare only what it really does: requests rely on it.
public struct TransportCapabilities: Sendable, Hashable {
    /// Abilities that not every transport has.
    public struct Features: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt32

        /// Makes a set from its bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Sends a file without holding it in memory.
        public static let fileUpload = Features(rawValue: 1 << 0)
        /// Sends a body that is made while it is sent.
        public static let streamedUpload = Features(rawValue: 1 << 1)
        /// Writes the response's body to a file descriptor.
        public static let fileDelivery = Features(rawValue: 1 << 2)
        /// Hands the response's body over chunk by chunk.
        public static let streamedDelivery = Features(rawValue: 1 << 3)
        /// Holds the server back when the reader of a streamed body is slow.
        public static let backpressure = Features(rawValue: 1 << 4)
        /// Suspends an exchange in flight.
        public static let suspension = Features(rawValue: 1 << 5)
        /// Measures the phases of an exchange.
        public static let metrics = Features(rawValue: 1 << 6)
        /// Keeps to ``ExchangeOptions/connectTimeout`` apart from the other timeouts.
        public static let connectTimeout = Features(rawValue: 1 << 7)
        /// Enforces a TLS version above 1.2.
        public static let minimumTLSVersion = Features(rawValue: 1 << 8)
        /// Reports informational (1xx) responses.
        public static let informationalResponses = Features(rawValue: 1 << 9)
        /// Reports trailer fields.
        public static let trailers = Features(rawValue: 1 << 10)
        /// Sends any method token as it is.
        public static let anyMethod = Features(rawValue: 1 << 11)

        /// Hands requests to ``ExchangeOptions/protocolClasses``.
        public static let protocolClasses = Features(rawValue: 1 << 12)
        /// Keeps to ``ExchangeOptions/minimumTransferRate``.
        public static let minimumTransferRate = Features(rawValue: 1 << 13)
        /// Sends requests through the proxies of its own configuration.
        public static let proxies = Features(rawValue: 1 << 14)
        /// Authenticates connections by Negotiate (RFC 4559) and NTLM. `CurlTransport` does, and a transport around it.
        public static let connectionAuthentication = Features(rawValue: 1 << 15)
        /// Has somebody decide on a server's certificates before a byte of the request is sent.
        public static let serverTrust = Features(rawValue: 1 << 16)
        /// Shows a ``ClientIdentity`` to servers that ask.
        public static let clientIdentity = Features(rawValue: 1 << 17)
        /// Reaches hosts by ``NetworkSettings``: through proxies, over Unix sockets and the like.
        public static let networkSettings = Features(rawValue: 1 << 18)
        /// Speaks HTTP/2 (RFC 9113).
        public static let http2 = Features(rawValue: 1 << 19)
        /// Speaks HTTP/3 (RFC 9114).
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

        /// What to use instead where one of these is missing.
        fileprivate var advice: String {
            guard contains(.protocolClasses) else { return "" }
            return ". MockTransport answers requests without a server, URLSessionTransport hands them to such classes"
        }

        /// The names of the abilities, in words.
        public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }
    }

    /// The transport's name, as it appears in errors: "curl", say.
    public var name: String
    /// Its abilities.
    public var features: Features
    /// The content codings that it decodes, best first, as they stand in `Accept-Encoding` (RFC 9110, section 12.5.3).
    public var contentCodings: [String]

    /// Makes a description of a transport.
    public init(name: String, features: Features, contentCodings: [String] = []) {
        self.name = name
        self.features = features
        self.contentCodings = contentCodings
    }

    /// Throws ``TransportError/Code-swift.struct/unsupportedByTransport`` when the exchange demands what is not here.
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
