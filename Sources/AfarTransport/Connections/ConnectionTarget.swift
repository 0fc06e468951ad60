/// The destination of a connection, and how to connect to it.
public struct ConnectionTarget: Sendable {
    /// A host name or an address. An IPv6 address has no brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// Whether the connection begins with TLS.
    public var isSecure: Bool
    /// The protocols that are offered in the TLS handshake (ALPN, RFC 7301), best first. The default is none.
    public var applicationProtocols: [String]
    /// Timeouts, network settings and TLS settings. HTTP settings have no effect.
    public var options: ExchangeOptions
    /// The `Proxy-Authorization` field for an HTTP proxy, which replaces the proxy's credential. The default is nil.
    package var proxyAuthorization: String?
    /// Evaluates a server's certificates during the handshake. If it is nil, the handshake fails with ``UndecidedTrust``.
    package var decide: (@Sendable (UndecidedTrust) async throws -> Void)?

    /// Creates a target. Everything except the host and the port has a default.
    public init(
        host: String, port: Int, isSecure: Bool = false, applicationProtocols: [String] = [],
        options: ExchangeOptions = ExchangeOptions()
    ) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.applicationProtocols = applicationProtocols
        self.options = options
    }

    /// The host and port as they appear in a URL.
    public var authority: String { HostName.authority(host, port: port) }

    /// The target as text, for errors: "tls://example.com:443".
    public var description: String { "\(isSecure ? "tls" : "tcp")://\(authority)" }
}

extension ConnectionTarget: CustomStringConvertible {}
