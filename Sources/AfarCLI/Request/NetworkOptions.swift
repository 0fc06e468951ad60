import Afar
import AfarDNSOverHTTPS
import ArgumentParser
import Foundation

/// An address family: `-4` or `-6`.
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

/// The options for reaching a host.
struct NetworkOptions: ParsableArguments {
    @Option(help: "Use this version of HTTP. 2 falls back to 1.1 unless the server accepts it over TLS.")
    var http: HTTPVersionChoice?

    @Option(
        name: [.customShort("x", allowingJoined: true), .long],
        help: ArgumentHelp(
            """
            Use this http, https, socks5 or socks5h proxy, or "none". (default: from http_proxy, https_proxy, all_proxy and \
            no_proxy)
            """, valueName: "url"))
    var proxy: String?

    @Option(help: ArgumentHelp("Connect to this Unix domain socket instead of the URL's host.", valueName: "path"))
    var unixSocket: String?

    @Option(
        help: ArgumentHelp(
            "Connect to the second place instead of the first. An empty part means any, or the same. Can be repeated.",
            valueName: "host:port:host:port"))
    var connectTo: [String] = []

    @Option(
        help: ArgumentHelp(
            "Connect from this network interface or local address.", valueName: "name|address"))
    var interface: String?

    @Flag var addressFamily: AddressFamilyChoice?

    @Option(
        help: ArgumentHelp(
            "Send TCP keep-alive probes when a connection has been idle for this time, in whole seconds.",
            valueName: "time"),
        transform: { try TimeArgument($0, option: "--keepalive-time", in: 1...32_767) })
    var keepaliveTime: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Look up names over HTTPS (RFC 8484) with this server, such as https://dns.example/dns-query.",
            valueName: "url"))
    var dohUrl: String?

    @Option(
        help: ArgumentHelp(
            "Send and receive bodies at most at this rate, such as 200K or 3M. (K is 1024 bytes per second.)",
            valueName: "rate"))
    var limitRate: ByteRate?

    /// - Parameter readsEnvironment: Whether to read proxies from the environment. Pass true for a transport that doesn't read
    ///   the environment itself.
    func settings(readsEnvironment: Bool) throws -> NetworkSettings? {
        var settings = readsEnvironment ? NetworkSettings.environment : NetworkSettings()
        do {
            if let proxy { settings.proxies = proxy == "none" ? .none : .init(try Proxy(proxy)) }
        } catch {
            if proxy?.prefixMatch(of: /(http|https|all):[a-z0-9]+:\/\//) != nil,
                let hint = ForeignOption.misuse(of: "--proxy")
            {
                throw Failure(.usage, hint)
            }
            if proxy?.isEmpty == true {
                throw Failure(.usage, "--proxy: the URL is empty. To use no proxy, write --proxy none.")
            }
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
        settings.tcpKeepAlive = keepaliveTime.map { .init(idle: $0.wholeSeconds) }
        return readsEnvironment || settings != NetworkSettings() || proxy != nil ? settings : nil
    }

    /// Sets the resolver and the rate limit.
    ///
    /// - Parameters:
    ///   - configuration: The session's settings. DNS queries use the same proxies and certificate authorities.
    ///   - makeTransport: Creates the transport for these queries.
    func apply(
        to configuration: inout SessionConfiguration, _ makeTransport: (SessionConfiguration) -> any Transport
    ) throws {
        if let dohUrl {
            var settings = configuration
            settings.clientIdentity = nil
            settings.network?.unixSocket = nil
            settings.network?.connectTo = [:]
            do {
                configuration.resolver = CachingResolver(
                    try DNSOverHTTPSResolver(dohUrl, configuration: settings, transport: makeTransport(settings)))
            } catch {
                throw Failure(.usage, "--doh-url: Write it as https://dns.example/dns-query.")
            }
        }
        if let rate = limitRate?.bytesPerSecond, rate > 0 {
            configuration.bandwidthLimiter = BandwidthLimiter(upload: rate, download: rate)
        }
    }

    /// Parses two hosts with ports, separated by a colon.
    private static func pair(_ text: String) throws -> (String, String) {
        var (parts, isBracketed) = ([""], false)
        for character in text {
            if character == "[" { isBracketed = true } else if character == "]" { isBracketed = false }
            if character == ":", !isBracketed { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        guard parts.count == 4 else {
            throw Failure(
                .usage,
                "--connect-to \(text): write it as example.com:443:127.0.0.1:8443, with IPv6 addresses in brackets."
            )
        }
        let place = { (host: String, port: String) in port.isEmpty ? host : "\(host):\(port)" }
        return (place(parts[0], parts[1]), place(parts[2], parts[3]))
    }
}

/// The value of `--limit-rate`: bytes per second with an optional unit, as curl defines it. 0 means no limit.
struct ByteRate: ExpressibleByArgument {
    /// The value as written.
    let text: String
    let bytesPerSecond: Int

    private static let units: [Character: Int] = [
        "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50,
    ]

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let unit = argument.dropFirst(digits.count).lowercased()
        guard let number = Int(digits), unit.count <= 1, let factor = Self.units[unit.first ?? "b"] else { return nil }
        let (rate, isTooLarge) = number.multipliedReportingOverflow(by: factor)
        guard !isTooLarge else { return nil }
        (text, bytesPerSecond) = (argument, rate)
    }
}

/// The values of `--http`.
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

    /// The equivalent option of curl.
    var curlOption: String {
        switch self {
        case .one: "--http1.1"
        case .two: "--http2"
        case .three: "--http3-only"
        }
    }
}

/// The values of `--transport`.
enum TransportChoice: String, CaseIterable, ExpressibleByArgument {
    #if canImport(AfarCurl)
        /// Afar's own engine, and libcurl for HTTP/3, Negotiate and NTLM.
        case afar
        case curl
    #endif
    case urlsession

    /// The transport that a session uses by default.
    static var standard: TransportChoice { allCases.first ?? .urlsession }

    /// Whether the tool passes proxies from the environment to the transport, because the transport doesn't read them itself.
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
