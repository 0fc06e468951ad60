import AfarTransport
import Foundation
import HTTPTypes

/// How to connect to a host, as determined by the exchange's network settings.
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
    let unixSocket: String?
    private let interface: String?
    private let localAddress: String?
    private let addressFamily: NetworkSettings.AddressFamily
    private let tcpKeepAlive: NetworkSettings.TCPKeepAlive?

    /// - Parameter isRaw: Whether the connection is for a protocol other than HTTP. If so, a proxy must open a tunnel.
    /// - Throws: `InvalidSetting` or `InvalidProxy`.
    init(
        _ settings: NetworkSettings, to host: String, port: Int, _ request: HTTPRequest, _ options: ExchangeOptions,
        isRaw: Bool
    ) throws {
        try settings.validate()
        let isSecure = request.scheme == "https"
        (self.host, self.port) = try settings.connectTarget(forHost: host, port: port)
        proxy = try settings.proxy(isSecure: isSecure, authority: request.authority ?? "")
        let isRerouted = (self.host, self.port) != (host, port)
        isTunnel = proxy?.usesHTTP == true && (isSecure || isRaw || isRerouted)
        let own = request.headerFields[.proxyAuthorization] ?? options.defaultFields.fields[.proxyAuthorization]
        proxyAuthorization = isTunnel ? own ?? proxy?.basicAuthorization : nil
        proxyMinimumTLSVersion = proxy?.kind == .https ? options.minimumTLSVersion : nil
        (unixSocket, interface, localAddress) = (settings.unixSocket, settings.interface, settings.localAddress)
        (addressFamily, tcpKeepAlive) = (settings.addressFamily, settings.tcpKeepAlive)
    }

    /// The proxy that receives whole requests, if any.
    var requestProxy: Proxy? { proxy?.usesHTTP == true && !isTunnel ? proxy : nil }

    static func == (lhs: ConnectionRoute, rhs: ConnectionRoute) -> Bool {
        if lhs === rhs { return true }
        return (lhs.host, lhs.port, lhs.unixSocket) == (rhs.host, rhs.port, rhs.unixSocket)
            && (lhs.proxy, lhs.isTunnel, lhs.proxyAuthorization) == (rhs.proxy, rhs.isTunnel, rhs.proxyAuthorization)
            && (lhs.interface, lhs.localAddress) == (rhs.interface, rhs.localAddress)
            && lhs.proxyMinimumTLSVersion == rhs.proxyMinimumTLSVersion
            && (lhs.addressFamily, lhs.tcpKeepAlive) == (rhs.addressFamily, rhs.tcpKeepAlive)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(unixSocket)
        hasher.combine(proxy)
        hasher.combine(proxyAuthorization)
    }

    /// The host and port to which the socket connects, if it isn't a Unix socket.
    var peer: (host: String, port: Int) { proxy.map { ($0.host, $0.port) } ?? (host, port) }

    /// Returns the addresses of the permitted family.
    ///
    /// - Throws: A ``Fault`` if no address is permitted.
    func permitted(_ addresses: [SocketAddress], of name: String) throws(Fault) -> [SocketAddress] {
        guard addressFamily != .any else { return addresses }
        let permitted = addresses.filter { $0.family == (addressFamily == .ipv6 ? AF_INET6 : AF_INET) }
        guard permitted.isEmpty else { return permitted }
        throw addressFamily.noAddress(of: name)
    }

    /// Applies the settings for sockets: keep-alive, and the interface or the local address.
    ///
    /// - Returns: 0, or an error code.
    func prepare(_ descriptor: Int32, _ family: Int32) -> Int32 {
        let code = tcpKeepAlive?.apply(to: descriptor) ?? 0
        return code == 0 ? bind(descriptor, family) : code
    }

    private func bind(_ descriptor: Int32, _ family: Int32) -> Int32 {
        if let interface { return Self.bind(descriptor, family, toInterface: interface) }
        guard let localAddress else { return 0 }
        let addresses = (try? SocketAddress.lookUp(localAddress, isAddress: true)) ?? []
        guard let address = addresses.first(where: { $0.family == family }) else { return EAFNOSUPPORT }
        return address.withPointer { Foundation.bind(descriptor, $0, $1) } == 0 ? 0 : errno
    }

    private static func bind(_ descriptor: Int32, _ family: Int32, toInterface name: String) -> Int32 {
        let length = socklen_t(name.utf8.count)
        if setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, length) == 0 { return 0 }
        guard errno == EPERM else { return errno }
        // The process lacks the privilege, so bind to the interface's address instead. The address determines the route in most
        // configurations.
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return errno }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == family,
                String(cString: entry.pointee.ifa_name) == name
            else { continue }
            let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            return Foundation.bind(descriptor, address, socklen_t(size)) == 0 ? 0 : errno
        }
        return EADDRNOTAVAIL
    }
}

extension Proxy {
    /// The credential for Basic authentication, as the value of `Proxy-Authorization` (RFC 7617).
    var basicAuthorization: String? {
        credential.map { "Basic " + Data("\($0.user):\($0.password)".utf8).base64EncodedString() }
    }
}
