import Afar
import ArgumentParser

/// A family of addresses: `-4` or `-6`.
enum AddressFamilyChoice: String, EnumerableFlag {
    case ipv4, ipv6

    static func name(for value: Self) -> NameSpecification {
        [.customShort(value == .ipv4 ? "4" : "6"), .customLong(value.rawValue)]
    }

    static func help(for value: Self) -> ArgumentHelp? {
        "Connect to \(value == .ipv4 ? "IPv4" : "IPv6") addresses only."
    }

    var family: NetworkSettings.AddressFamily { self == .ipv4 ? .ipv4 : .ipv6 }
}

/// How a request reaches its host.
struct NetworkOptions: ParsableArguments {
    @Option(help: "Speak this version of HTTP; 2 where the server agrees over TLS, or else 1.1.")
    var http: HTTPVersionChoice?

    @Option(
        help: ArgumentHelp(
            """
            Go through this proxy: http, https, socks5 or socks5h, or "none". (default: what http_proxy, https_proxy, all_proxy \
            and no_proxy say)
            """, valueName: "url"))
    var proxy: String?

    @Option(help: ArgumentHelp("Connect to this Unix socket, whatever the URL's host.", valueName: "path"))
    var unixSocket: String?

    @Option(
        help: ArgumentHelp(
            "Connect there instead of to a host of the URL; an empty part means any, or the same. Repeat it for more.",
            valueName: "host:port:host:port"))
    var connectTo: [String] = []

    @Option(
        help: ArgumentHelp(
            "Connect from this network interface, or from this address of it.", valueName: "name|address"))
    var interface: String?

    @Flag var addressFamily: AddressFamilyChoice?

    @Option(
        help: ArgumentHelp(
            "Check with TCP probes that a quiet connection still exists, first after this time.", valueName: "seconds"))
    var keepaliveTime: Int?

    /// - Parameter readsEnvironment: Whether the proxies of the environment are for the library to find, not for the transport.
    func settings(readsEnvironment: Bool) throws -> NetworkSettings? {
        var settings = readsEnvironment ? NetworkSettings.environment : NetworkSettings()
        do {
            if let proxy { settings.proxies = proxy == "none" ? .none : .init(try Proxy(proxy)) }
        } catch {
            throw Failure(.usage, "--proxy: \(error). Write it as http://proxy.example:3128.")
        }
        settings.unixSocket = unixSocket
        for text in connectTo {
            let (place, other) = try Self.pair(text)
            settings.connectTo[place] = other
        }
        if let interface {
            let isAddress = interface.contains(":") || interface.split(separator: ".").allSatisfy { UInt8($0) != nil }
            if isAddress { settings.localAddress = interface } else { settings.interface = interface }
        }
        settings.addressFamily = addressFamily?.family ?? .any
        settings.tcpKeepAlive = keepaliveTime.map { .init(idle: $0) }
        return readsEnvironment || settings != NetworkSettings() || proxy != nil ? settings : nil
    }

    /// Two hosts with ports, with a colon between them.
    private static func pair(_ text: String) throws -> (String, String) {
        var (parts, isBracketed) = ([""], false)
        for character in text {
            if character == "[" { isBracketed = true } else if character == "]" { isBracketed = false }
            if character == ":", !isBracketed { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        guard parts.count == 4 else {
            throw Failure(
                .usage,
                "--connect-to \(text): write it as example.com:443:127.0.0.1:8443, with an address of IPv6 in brackets."
            )
        }
        let place = { (host: String, port: String) in port.isEmpty ? host : "\(host):\(port)" }
        return (place(parts[0], parts[1]), place(parts[2], parts[3]))
    }
}

// MARK: - Version of HTTP

/// The versions of HTTP that a person can demand.
enum HTTPVersionChoice: String, CaseIterable, ExpressibleByArgument {
    case one = "1.1"
    case two = "2"
    case three = "3"

    var version: ExchangeOptions.HTTPVersion {
        switch self {
        case .one: .http1
        case .two: .http2
        case .three: .http3
        }
    }

    /// curl's word for it.
    var curlOption: String {
        switch self {
        case .one: "--http1.1"
        case .two: "--http2"
        case .three: "--http3-only"
        }
    }
}

// MARK: - Transport

/// The transports that a person can choose between.
enum TransportChoice: String, CaseIterable, ExpressibleByArgument {
    #if canImport(AfarCurl)
        /// Afar's own engine, and libcurl for HTTP/2, HTTP/3, Negotiate and NTLM.
        case afar
        case curl
    #endif
    case urlsession

    /// The transport that a session uses by default.
    static var standard: TransportChoice { allCases.first ?? .urlsession }

    /// Whether proxies from the environment are passed to the transport, which doesn't read them itself.
    var readsNetworkSettings: Bool { self != .urlsession }

    /// The file for TLS keys that `SSLKEYLOGFILE` names, for the transport that doesn't read the variable itself.
    var keyLogFile: URL? {
        #if canImport(AfarCurl)
            let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] ?? ""
            return self == .afar && !path.isEmpty ? URL(filePath: path) : nil
        #else
            return nil
        #endif
    }

    func makeTransport(for configuration: SessionConfiguration) -> any Transport {
        switch self {
        #if canImport(AfarCurl)
            case .afar:
                FirstCapableTransport([
                    HTTPTransport(configuration: .init(configuration)),
                    CurlTransport(configuration: .init(configuration)),
                ])
            case .curl: CurlTransport(configuration: .init(configuration))
        #endif
        case .urlsession: URLSessionTransport()
        }
    }
}
