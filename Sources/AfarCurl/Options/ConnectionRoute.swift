import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// How to connect to the host of a request whose exchange has network settings or a resolver.
struct ConnectionRoute {
    /// The properties by which Afar distinguishes connections that libcurl treats as equal.
    struct Identity: Hashable {
        fileprivate var interface: String?
        fileprivate var localAddress: String?
        fileprivate var credential: Proxy.Credential?
        fileprivate var proxyFields: [HTTPField] = []
        fileprivate var addressFamily = NetworkSettings.AddressFamily.any
        fileprivate var tcpKeepAlive: NetworkSettings.TCPKeepAlive?
        /// The pool retains the resolver through this value, so another resolver can't have the same identity.
        fileprivate var resolver: ResolverIdentity?
    }

    /// The properties that distinguish this route's connections; nil if libcurl itself distinguishes these connections from others.
    let identity: Identity?
    private let settings: NetworkSettings
    let proxy: Proxy?
    /// The host and port to connect to, directly or through the proxy.
    let target: (host: String, port: Int)
    /// The entries of `connectTo` in libcurl's format; nil without entries. libcurl doesn't copy this list.
    private let connectTo: StringList?
    /// The fields for a proxy that opens a tunnel; nil without fields. libcurl doesn't copy this list.
    let proxyFields: StringList?
    private let minimumTLSVersion: ExchangeOptions.TLSVersion
    /// The resolver and the hosts that it looks up; nil for libcurl's own lookups.
    let lookups: ResolverLookups?

    /// Returns nil if the exchange has neither network settings nor a resolver.
    init?(_ hop: Hop, isSecure: Bool, authority: String) throws {
        guard let box = hop.exchange.options.networkBox else { return nil }
        let settings = box.settings
        minimumTLSVersion = hop.exchange.options.minimumTLSVersion
        do {
            try settings.validate()
            let entries = try settings.connectToEntries().map { entry in
                [entry.key, entry.value].map { "\($0.host ?? ""):\($0.port.map(String.init) ?? "")" }.joined(
                    separator: ":")
            }
            connectTo = entries.isEmpty ? nil : StringList(entries)
            target = try settings.connectTarget(forHost: hop.exchange.host, port: hop.exchange.port)
            proxy = try settings.proxy(isSecure: isSecure, authority: authority)
            if let proxy, proxy.kind == .https, isSecure, hop.exchange.options.security != nil {
                throw InvalidSetting(
                    "a proxy over TLS can't be combined with a client identity or the evaluation of server trust")
            }
            let ownFields = Array(hop.exchange.request.headerFields).filter { $0.name == .proxyAuthorization }
            let fields = isSecure && proxy?.usesHTTP == true ? ownFields : []
            proxyFields = fields.isEmpty ? nil : StringList(fields: fields)
            let identity = Identity(
                interface: settings.interface, localAddress: settings.localAddress, credential: proxy?.credential,
                proxyFields: fields, addressFamily: settings.addressFamily, tcpKeepAlive: settings.tcpKeepAlive,
                resolver: box.resolver.map { ResolverIdentity(resolver: $0) })
            self.identity = identity == Identity() ? nil : identity
            let hosts = Self.lookedUpHosts(proxy, target)
            lookups =
                settings.unixSocket == nil
                ? box.resolver.map { ResolverLookups($0, hosts, settings.addressFamily) } : nil
            self.settings = settings
        } catch {
            throw hop.failure(.invalidUse, "\(error)")
        }
    }

    /// The hosts that libcurl looks up: first the proxy or the host, then the host if a SOCKS proxy requires its address.
    private static func lookedUpHosts(_ proxy: Proxy?, _ target: (host: String, port: Int)) -> [LookedUpHost] {
        let host = LookedUpHost(name: target.host, port: target.port)
        guard let proxy else { return [host] }
        let first = LookedUpHost(name: proxy.host, port: proxy.port, proxy: proxy)
        return proxy.kind == .socks5 ? [first, host] : [first]
    }

    var addressFamily: NetworkSettings.AddressFamily { settings.addressFamily }
    var unixSocket: String? { settings.unixSocket }

    /// Whether libcurl may have to look up a name even if the URL has an address.
    var needsLookup: Bool { proxy != nil || connectTo != nil }

    /// Sets libcurl's options for the route.
    func apply(to options: CurlOptions, _ certificateBundle: String?) throws(Fault) {
        if let unixSocket = settings.unixSocket {
            // libcurl describes all connections over Unix sockets alike, so they can't be distinguished.
            try options.set(CURLOPT_UNIX_SOCKET_PATH, unixSocket)
            try options.set(CURLOPT_FRESH_CONNECT, 1)
            try options.set(CURLOPT_FORBID_REUSE, 1)
        }
        if let interface = settings.interface { try options.set(CURLOPT_INTERFACE, "if!" + interface) }
        if let address = settings.localAddress { try options.set(CURLOPT_INTERFACE, "host!" + address) }
        if let connectTo { try options.set(CURLOPT_CONNECT_TO, connectTo) }
        if let proxyFields { try options.set(CURLOPT_PROXYHEADER, proxyFields) }
        switch addressFamily {
        case .any: break
        case .ipv4: try options.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: try options.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        guard let proxy else { return }
        try options.set(CURLOPT_PROXY, proxy.url)
        if let credential = proxy.credential {
            try options.set(CURLOPT_PROXYAUTH, afar_auth_basic())
            try options.set(CURLOPT_PROXYUSERNAME, credential.user)
            try options.set(CURLOPT_PROXYPASSWORD, credential.password)
        }
        guard proxy.kind == .https else { return }
        // libcurl gives no access to unsolicited bytes in the TLS connection to the proxy.
        try options.set(CURLOPT_FORBID_REUSE, 1)
        try options.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        try options.set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        try options.set(CURLOPT_PROXY_SSLVERSION, minimumTLSVersion.curlVersion)
        try options.set(CURLOPT_PROXY_CAPATH, nil)
        if let certificateBundle { try options.set(CURLOPT_PROXY_CAINFO, certificateBundle) }
    }

    /// Applies the settings for a TCP socket that libcurl opens. Returns 0, or the system's error code.
    func prepare(_ socket: Int32) -> Int32 { settings.tcpKeepAlive?.apply(to: socket) ?? 0 }
}
