import AfarTransport
import Foundation
import HTTPTypes

/// How to connect to a host, as determined by the exchange's network settings and resolver.
final class ConnectionRoute: Hashable, Sendable {
    let proxy: Proxy?
    /// Whether the proxy opens a tunnel. Otherwise, it receives requests in absolute form (RFC 9112, section 3.2.2).
    let isTunnel: Bool
    /// The credential for opening the tunnel, as the value of `Proxy-Authorization`.
    let proxyAuthorization: String?
    /// The lowest TLS version for a proxy over TLS; nil for other proxies.
    let proxyMinimumTLSVersion: ExchangeOptions.TLSVersion?
    /// The host and port to connect to, directly or through the proxy.
    let host: String
    let port: Int
    private let settings: NetworkSettings
    /// Looks up names; nil for the operating system's resolver.
    let resolver: (any HostResolver)?

    /// - Parameter isRaw: Whether the connection is for a protocol other than HTTP. If so, a proxy must open a tunnel.
    /// - Throws: `InvalidSetting` or `InvalidProxy`.
    init(
        _ box: NetworkBox, to host: String, port: Int, _ request: HTTPRequest, _ options: ExchangeOptions,
        isRaw: Bool
    ) throws {
        (settings, resolver) = (box.settings, box.resolver)
        try settings.validate()
        let isSecure = request.scheme == "https"
        (self.host, self.port) = try settings.connectTarget(forHost: host, port: port)
        proxy = try settings.proxy(isSecure: isSecure, authority: request.authority ?? "")
        let isRerouted = (self.host, self.port) != (host, port)
        isTunnel = proxy?.usesHTTP == true && (isSecure || isRaw || isRerouted)
        let own = request.headerFields[.proxyAuthorization] ?? options.defaultFields.fields[.proxyAuthorization]
        proxyAuthorization = isTunnel ? own ?? proxy?.basicAuthorization : nil
        proxyMinimumTLSVersion = proxy?.kind == .https ? options.minimumTLSVersion : nil
    }

    /// The proxy that receives whole requests, if any.
    var requestProxy: Proxy? { proxy?.usesHTTP == true && !isTunnel ? proxy : nil }

    /// Compares only the settings that affect connections to this host. Other settings, such as the exclusions of proxies, can differ.
    static func == (lhs: ConnectionRoute, rhs: ConnectionRoute) -> Bool {
        if lhs === rhs { return true }
        let (left, right) = (lhs.settings, rhs.settings)
        return (lhs.host, lhs.port, lhs.proxy, lhs.isTunnel) == (rhs.host, rhs.port, rhs.proxy, rhs.isTunnel)
            && (lhs.proxyAuthorization, lhs.proxyMinimumTLSVersion)
                == (rhs.proxyAuthorization, rhs.proxyMinimumTLSVersion)
            && (left.unixSocket, left.interface, left.localAddress)
                == (right.unixSocket, right.interface, right.localAddress)
            && (left.addressFamily, left.tcpKeepAlive) == (right.addressFamily, right.tcpKeepAlive)
            && lhs.resolver === rhs.resolver
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(settings.unixSocket)
        hasher.combine(proxy)
        hasher.combine(proxyAuthorization)
        if let resolver { hasher.combine(ObjectIdentifier(resolver)) }
    }

    var unixSocket: String? { settings.unixSocket }

    /// The host and port to which the socket connects, if it isn't a Unix socket.
    var peer: (host: String, port: Int) { proxy.map { ($0.host, $0.port) } ?? (host, port) }

    /// Returns the addresses of the permitted family.
    ///
    /// - Throws: A ``Fault`` if no address is permitted.
    func permitted(_ addresses: [SocketAddress], of name: String) throws(Fault) -> [SocketAddress] {
        let addressFamily = settings.addressFamily
        guard addressFamily != .any else { return addresses }
        let permitted = addresses.filter { $0.family == (addressFamily == .ipv6 ? AF_INET6 : AF_INET) }
        guard permitted.isEmpty else { return permitted }
        throw addressFamily.noAddress(of: name)
    }

    /// Applies the settings for sockets: keep-alive, and the interface or the local address.
    ///
    /// - Returns: 0, or an error code.
    func prepare(_ descriptor: Int32, _ family: Int32) -> Int32 {
        let code = settings.tcpKeepAlive?.apply(to: descriptor) ?? 0
        return code == 0 ? settings.bind(descriptor, family: family) : code
    }
}

extension Proxy {
    /// The credential for Basic authentication, as the value of `Proxy-Authorization` (RFC 7617).
    var basicAuthorization: String? {
        credential.map { "Basic " + Data("\($0.user):\($0.password)".utf8).base64EncodedString() }
    }
}
