/// Where a connection goes, and how it is made.
public struct ConnectionTarget: Sendable {
    /// A name or an address; one of IPv6 without brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// Whether the connection begins with TLS.
    public var isSecure: Bool
    /// The protocols that are offered in the TLS handshake (ALPN, RFC 7301), best first. The default is none.
    public var applicationProtocols: [String]
    /// Timeouts, the network, TLS; what is about HTTP means nothing here.
    public var options: ExchangeOptions
    /// The field `Proxy-Authorization` for a proxy of HTTP, in place of its credential. The default is nil.
    package var proxyAuthorization: String?
    /// Decides on a server's certificates in the middle of the handshake; where it is nil, that fails with ``UndecidedTrust``.
    package var decide: (@Sendable (UndecidedTrust) async throws -> Void)?

    /// Makes a target; everything but host and port has a default.
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

    /// Host and port, as they stand in a URL.
    public var authority: String { HostName.authority(host, port: port) }

    /// The target as text, for errors: "tls://example.com:443".
    public var description: String { "\(isSecure ? "tls" : "tcp")://\(authority)" }
}

extension ConnectionTarget: CustomStringConvertible {}
