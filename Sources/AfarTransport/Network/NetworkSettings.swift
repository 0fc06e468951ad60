/// Settings that determine how requests reach their hosts.
public struct NetworkSettings: Sendable, Hashable {
    /// A family of IP addresses.
    public enum AddressFamily: Sendable, Hashable {
        /// Both families; the operating system orders the addresses (RFC 6724).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// Probes on a connection without traffic (RFC 9293, section 3.8.4). They keep firewalls and address translators from dropping a quiet
    /// connection, and close one whose other end has disappeared.
    public struct TCPKeepAlive: Sendable, Hashable {
        /// How long a connection is quiet before the first probe, in seconds: 1 to 32,767. The default is 60.
        public var idle: Int
        /// The time between two probes, in seconds: 1 to 32,767. The default is 15.
        public var interval: Int
        /// The number of probes without an answer after which the connection is closed: 1 to 127. The default is 4.
        public var count: Int

        /// Creates settings for probes. The times are in seconds.
        public init(idle: Int = 60, interval: Int = 15, count: Int = 4) {
            (self.idle, self.interval, self.count) = (idle, interval, count)
        }
    }

    /// The proxies for requests. The default is none.
    public var proxies = ProxySettings.none
    /// The path of a Unix socket for all connections, or nil to use TCP. The default is nil.
    ///
    /// The URL's host doesn't affect where connections go, but is still sent to the server. No proxy is used. With `CurlTransport`, each
    /// connection serves one request.
    public var unixSocket: String?
    /// Addresses to connect to instead of certain hosts: `["api.example.com:443": "10.0.0.5:8443"]`. The default is empty.
    ///
    /// If a key has no host or no port, it matches any. If a value has no host or no port, the original one is used. Write IPv6
    /// addresses in brackets. The URL, the `Host` field and the name that is checked in the certificate don't change.
    public var connectTo: [String: String] = [:]
    /// The name of the network interface for outgoing connections, such as `eth0`, or nil to let the system choose. The default
    /// is nil.
    public var interface: String?
    /// The local address for outgoing connections, or nil to let the system choose. The default is nil.
    public var localAddress: String?
    /// The family of IP addresses to connect to. With a proxy, it applies to the proxy's addresses, and to the host's if the client
    /// resolves them (SOCKS 5). The default is ``AddressFamily/any``.
    ///
    /// A request fails with ``TransportError/Code-swift.struct/cannotFindHost`` if its host has no address of the family.
    public var addressFamily = AddressFamily.any
    /// How TCP checks that the other end of a connection still exists, or nil not to check. The default is nil.
    public var tcpKeepAlive: TCPKeepAlive?

    /// Creates settings that leave every choice to the transport.
    public init() {}

    /// The settings in the current environment of the process: its proxies.
    public static var environment: NetworkSettings {
        var settings = NetworkSettings()
        settings.proxies = .environment
        return settings
    }

    package static let none = NetworkSettings()

    /// Whether every choice is left to the transport.
    package var isDefault: Bool {
        var others = self
        others.proxies = .none
        return proxies.isDirect && others == .none
    }
}
