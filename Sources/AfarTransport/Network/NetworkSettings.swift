/// How requests reach their hosts.
public struct NetworkSettings: Sendable, Hashable {
    /// Which of them go through proxies. The default is none.
    public var proxies = ProxySettings.none
    /// The path of a Unix socket to which all connections are made, whatever the URL's host, which is what the server is told; nil, which
    /// is the default, for TCP. Each connection serves one request, and no proxy is used.
    public var unixSocket: String?
    /// Where connections are made instead of to certain hosts: `["api.example.com:443": "10.0.0.5:8443"]`. In a key the host or the
    /// port may be left out, which then is any, in a value too, which then stays. Addresses of IPv6 stand in brackets.
    /// The URL, the `Host` field and the name that is looked for in the certificate stay what they are. The default is none.
    public var connectTo: [String: String] = [:]
    /// The name of the network interface that connections leave by, `eth0` say; nil, which is the default, for the one that the
    /// system chooses.
    public var interface: String?
    /// The address of this machine from which connections are made; nil, which is the default, for the one that the system chooses.
    public var localAddress: String?

    /// Makes settings that leave all to the transport.
    public init() {}

    /// What the environment of the process says at this moment: its proxies.
    public static var environment: NetworkSettings {
        var settings = NetworkSettings()
        settings.proxies = .environment
        return settings
    }

    package static let none = NetworkSettings()

    /// Whether all is left to the transport.
    package var isDefault: Bool {
        var others = self
        others.proxies = .none
        return proxies.isDirect && others == .none
    }
}
