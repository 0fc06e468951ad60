import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// How the connection for a request is made, where the exchange's network settings say anything about that.
struct ConnectionRoute: Equatable {
    /// What is of one connection and not of another, though libcurl does not tell them apart.
    struct Identity: Hashable {
        fileprivate var interface: String?
        fileprivate var credential: Proxy.Credential?
        fileprivate var proxyFields: [HTTPField] = []
        fileprivate var addressFamily = NetworkSettings.AddressFamily.any
        fileprivate var tcpKeepAlive: NetworkSettings.TCPKeepAlive?
    }

    let proxy: Proxy?
    private let unixSocket: String?
    /// In libcurl's form.
    private let interface: String?
    /// In libcurl's form.
    private let connectTo: [String]
    /// The fields that are for the proxy which opens a tunnel.
    private let proxyFields: [HTTPField]
    let addressFamily: NetworkSettings.AddressFamily
    private let tcpKeepAlive: NetworkSettings.TCPKeepAlive?

    /// Nil if the exchange has no network settings.
    init?(_ hop: Hop, isSecure: Bool, authority: String) throws {
        guard let settings = hop.exchange.options.networkBox?.settings else { return nil }
        do {
            try settings.validate()
            unixSocket = settings.unixSocket
            connectTo = try settings.connectToEntries().map { entry in
                [entry.key, entry.value].map { "\($0.host ?? ""):\($0.port.map(String.init) ?? "")" }.joined(
                    separator: ":")
            }
            interface = settings.interface.map { "if!" + $0 } ?? settings.localAddress.map { "host!" + $0 }
            proxy = try settings.proxy(isSecure: isSecure, authority: authority)
            if let proxy, proxy.kind == .https, isSecure, hop.exchange.options.security != nil {
                throw InvalidSetting(
                    "a client identity, or the evaluation of server trust, is not possible through a proxy over TLS")
            }
            let ownFields = Array(hop.exchange.request.headerFields).filter { $0.name == .proxyAuthorization }
            proxyFields = isSecure && proxy?.isOfHTTP == true ? ownFields : []
            (addressFamily, tcpKeepAlive) = (settings.addressFamily, settings.tcpKeepAlive)
        } catch {
            throw hop.failure(.invalidUse, "\(error)")
        }
    }

    /// Nil where libcurl can tell.
    var identity: Identity? {
        let identity = Identity(
            interface: interface, credential: proxy?.credential, proxyFields: proxyFields, addressFamily: addressFamily,
            tcpKeepAlive: tcpKeepAlive)
        return identity == Identity() ? nil : identity
    }

    /// Whether libcurl may have a name to look up, when it has none in the URL.
    var needsLookup: Bool { proxy != nil || !connectTo.isEmpty }

    /// Has libcurl make connections so.
    func apply(to options: CurlOptions, _ certificateBundle: String?) throws(CurlOptions.Failure) {
        if let unixSocket {
            // Kept connections could not be told apart: libcurl describes all of them alike.
            try options.set(CURLOPT_UNIX_SOCKET_PATH, unixSocket)
            try options.set(CURLOPT_FRESH_CONNECT, 1)
            try options.set(CURLOPT_FORBID_REUSE, 1)
        }
        if let interface { try options.set(CURLOPT_INTERFACE, interface) }
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
        // Bytes that belong to no request may wait in the TLS connection to the proxy, which libcurl does not show.
        try options.set(CURLOPT_FORBID_REUSE, 1)
        try options.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        try options.set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        try options.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try options.set(CURLOPT_PROXY_CAPATH, nil)
        if let certificateBundle { try options.set(CURLOPT_PROXY_CAINFO, certificateBundle) }
    }

    /// Applies the settings for a TCP socket that libcurl opens. Returns 0, or the system's error code.
    func prepare(_ socket: Int32) -> Int32 { tcpKeepAlive?.apply(to: socket) ?? 0 }

    /// What libcurl keeps a pointer to only; nil where there is none.
    func makeLists() -> RouteLists? {
        let isEmpty = connectTo.isEmpty && proxyFields.isEmpty
        return isEmpty ? nil : RouteLists(connectTo: connectTo, proxyFields: proxyFields)
    }
}

/// Lists that libcurl reads while a transfer runs.
final class RouteLists {
    private let connectTo: StringList
    private let proxyFields: StringList

    init(connectTo: [String], proxyFields: [HTTPField]) {
        self.connectTo = StringList(connectTo)
        self.proxyFields = StringList(fields: proxyFields)
    }

    func apply(to options: CurlOptions) throws(CurlOptions.Failure) {
        try options.set(CURLOPT_CONNECT_TO, connectTo)
        try options.set(CURLOPT_PROXYHEADER, proxyFields)
    }
}
