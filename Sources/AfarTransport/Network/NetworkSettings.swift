/// Settings that determine how requests reach their hosts.
public struct NetworkSettings: Sendable, Hashable {
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
