public import Foundation

/// A connection that carries bytes in both directions, without HTTP.
///
/// One task can read while another writes. Canceling a task ends its read or write. The connection then stays open, and unsent
/// bytes are sent before the next write.
public protocol Connection: AnyObject, Sendable {
    /// The addresses, the times, and the TLS properties of the connection.
    var metrics: TransactionMetrics { get }

    /// Reads the bytes that have arrived, and waits if there are none.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes to return.
    ///   - timeout: The maximum time to wait, in seconds; nil for no limit.
    /// - Returns: At least one byte, or empty data if the peer has finished writing.
    /// - Throws: A ``TransportError``.
    func read(atMost limit: Int, timeout: TimeInterval?) async throws -> Data

    /// Writes bytes. Returns when the operating system has accepted them all, so a slow peer slows down the writer.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - timeout: The maximum time without progress, in seconds; nil for no limit.
    /// - Throws: A ``TransportError``.
    func write(_ bytes: Data, timeout: TimeInterval?) async throws

    /// Signals to the peer that no more bytes follow. Reading is still possible.
    ///
    /// - Throws: A ``TransportError``.
    func finishWriting() async throws

    /// Starts TLS on a connection that isn't secure yet. Don't read or write until this method returns.
    ///
    /// - Parameter target: The host whose certificates are expected, and the TLS settings.
    /// - Throws: A ``TransportError``.
    func startTLS(to target: ConnectionTarget) async throws

    /// Closes the connection immediately. Running reads and writes fail with ``TransportError/Code-swift.struct/cancelled``.
    func close()
}

/// The destination of a connection, and how to connect to it.
public struct ConnectionTarget: Sendable {
    /// A host name or an address. An IPv6 address has no brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// A Boolean value that indicates whether the connection begins with TLS.
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
