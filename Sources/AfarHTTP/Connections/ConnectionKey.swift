import AfarTransport
import HTTPTypes

#if HTTP2
    import AfarHTTP2
#endif

/// Everything that distinguishes connections. A request can only use a connection with an equal key.
struct ConnectionKey: Hashable {
    /// The TLS settings that distinguish connections.
    struct Security: Hashable {
        let minimumVersion: ExchangeOptions.TLSVersion
        /// The client's identity and the evaluation of certificates; nil for the transport's defaults.
        let settings: ConnectionSecurity?

        static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.minimumVersion == rhs.minimumVersion && lhs.settings === rhs.settings
        }

        func hash(into hasher: inout Hasher) { hasher.combine(settings.map { ObjectIdentifier($0) }) }
    }

    /// What a connection is used for.
    enum Purpose {
        case requests
        /// A request to switch to another protocol (RFC 9110, section 7.8). That protocol then takes over the connection.
        case upgrade
        /// Another protocol from the start, without an HTTP request.
        case otherProtocol
    }

    /// The protocols that a connection can use for requests. The HTTP/2 settings are included because they apply to a whole connection.
    enum Version: Hashable {
        case http1
        /// HTTP/2 or HTTP/1.1, as the server chooses in the TLS handshake (ALPN, RFC 7301).
        case negotiated(HTTP2Session.Configuration)
        /// HTTP/2 only, even without TLS (RFC 9113, section 3.3).
        case http2(HTTP2Session.Configuration)

        /// The protocols to offer in the TLS handshake, in order of preference.
        var applicationProtocols: [String] {
            switch self {
            case .http1: ["http/1.1"]
            case .negotiated: ["h2", "http/1.1"]
            case .http2: ["h2"]
            }
        }
    }

    let purpose: Purpose
    let version: Version
    /// The host's name or address, in lowercase and without brackets. An address includes its zone.
    let host: String
    let port: Int
    /// Nil without TLS.
    let security: Security?
    /// Nil if the transport decides how to connect.
    let route: ConnectionRoute?
    /// Permits or refuses addresses; nil if all addresses are permitted.
    private let policy: ConnectionGuard?

    /// Creates the key for an exchange.
    ///
    /// - Throws: `Fault` if the port is invalid; `InvalidSetting` or `InvalidProxy` if a network setting can't be used.
    init(_ exchange: Exchange, for purpose: Purpose = .requests) throws {
        self.purpose = purpose
        let isSecure = exchange.request.scheme == "https"
        security =
            isSecure
            ? Security(minimumVersion: exchange.options.minimumTLSVersion, settings: exchange.options.security) : nil
        var authority = exchange.request.authority ?? ""
        let (name, port) = try authority.withUTF8 { try Self.split($0, defaultPort: isSecure ? 443 : 80) }
        let host: String
        if name.utf8.first == UInt8(ascii: "[") {
            let address = String(name.dropFirst().dropLast())
            host = address.withoutZone.asciiLowercased + address.zone
        } else {
            host = name.asciiLowercased
        }
        (self.host, self.port) = (host, port)
        policy = ConnectionGuard(exchange.options)
        route = try exchange.options.networkBox.map {
            try ConnectionRoute(
                $0, to: host, port: port, exchange.request, exchange.options, isRaw: purpose != .requests)
        }
        version =
            switch exchange.options.httpVersion {
            // A proxy that forwards requests receives HTTP/1.1.
            case _ where purpose != .requests || route?.requestProxy != nil: .http1
            #if HTTP2
                case .automatic where isSecure, .http2 where isSecure:
                    .negotiated(HTTP2Session.Configuration(exchange.options))
                case .http2PriorKnowledge: .http2(HTTP2Session.Configuration(exchange.options))
            #endif
            default: .http1
            }
    }

    /// Omits the purpose and the version, because keys rarely differ only in them.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(security)
        hasher.combine(route)
        if let policy { hasher.combine(policy) }
    }

    /// Returns why the policy refuses an address; nil if the policy permits it.
    func refusal(of address: SocketAddress) -> Fault? {
        policy?.refusal(
            of: ConnectionCandidate(
                isSecure: security != nil, host: host, port: port, unixSocket: route?.unixSocket, proxy: route?.proxy,
                target: route.map { ($0.host, $0.port) } ?? (host, port), address: address))
    }

    /// Splits a host and port. An address remains in brackets.
    private static func split(
        _ authority: UnsafeBufferPointer<UInt8>, defaultPort: Int
    ) throws -> (name: String, port: Int) {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), authority.last != UInt8(ascii: "]") else {
            return (String(decoding: authority, as: UTF8.self), defaultPort)
        }
        let digits = authority[(colon + 1)...]
        let port = digits.isEmpty ? defaultPort : UInt16(String(decoding: digits, as: UTF8.self)).map(Int.init)
        guard let port, digits.allSatisfy(\.isDigit) else {
            throw Fault(.invalidURL, "the port is not a number from 0 to 65535")
        }
        return (String(decoding: authority[..<colon], as: UTF8.self), port)
    }

    /// Whether an evaluator validates the host's certificates.
    var isEvaluated: Bool { security?.settings?.evaluation != nil }

    /// The origin for statistics.
    var origin: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let isDefault = port == (security == nil ? 80 : 443)
        return "\(security == nil ? "http" : "https")://\(name)" + (isDefault ? "" : ":\(port)")
    }
}
