import Foundation

/// Settings that determine which requests use which proxy.
public struct ProxySettings: Sendable, Hashable {
    /// The proxy for `http` requests; nil to connect directly.
    public var http: Proxy?
    /// The proxy for `https` requests; nil to connect directly.
    public var https: Proxy?
    /// The hosts to connect to directly, in the format of `no_proxy`.
    ///
    /// `example.com` matches the host and its subdomains, as does `.example.com`. `10.0.0.1` matches an address, `10.0.0.0/8` a
    /// network (RFC 4632), `example.com:8080` a host at one port, and `*` every host. Case doesn't matter.
    public var exclusions: [String]
    /// The reasons why proxies in the environment are invalid, keyed by the scheme of the requests that would use them.
    private var faults: [String: InvalidProxy] = [:]

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - http: The proxy for `http` requests. The default is nil: no proxy.
    ///   - https: The proxy for `https` requests. The default is nil: no proxy.
    ///   - exclusions: The hosts to connect to directly; see ``exclusions``. The default is none.
    public init(http: Proxy? = nil, https: Proxy? = nil, exclusions: [String] = []) {
        (self.http, self.https, self.exclusions) = (http, https, exclusions)
    }

    /// Creates settings with one proxy for all requests except those to excluded hosts.
    public init(_ proxy: Proxy, exclusions: [String] = []) {
        self.init(http: proxy, https: proxy, exclusions: exclusions)
    }

    /// Settings without proxies.
    public static let none = ProxySettings()

    /// The settings in the current environment of the process; see ``init(environment:)``.
    public static var environment: ProxySettings { ProxySettings(environment: ProcessInfo.processInfo.environment) }

    /// Creates settings from `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl and most tools do.
    ///
    /// Uppercase names work too, except `HTTP_PROXY`, which a web server sets for its CGI programs from a field of the request. A
    /// lowercase name takes precedence, and an empty variable is ignored. `no_proxy` contains the ``exclusions``, separated by
    /// commas or spaces. Requests that would use an invalid proxy fail.
    public init(environment: [String: String]) {
        self.init()
        let environment = environment.filter { !$0.value.isEmpty }
        func proxy(_ scheme: String, _ names: [String]) -> Proxy? {
            let name = (names + ["all_proxy", "ALL_PROXY"]).first { environment[$0] != nil }
            guard let name, let url = environment[name] else { return nil }
            do { return try Proxy(url) } catch {
                faults[scheme] = InvalidProxy("\(name): \(error)")
                return nil
            }
        }
        http = proxy("http", ["http_proxy"])
        https = proxy("https", ["https_proxy", "HTTPS_PROXY"])
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        exclusions = list.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    /// Whether all requests connect directly.
    package var isDirect: Bool { http == nil && https == nil && faults.isEmpty }

    /// Returns the proxy for requests to a host; nil to connect directly.
    ///
    /// - Throws: ``InvalidProxy`` if the environment specifies an invalid proxy for the request.
    package func proxy(scheme: String, authority: String) throws(InvalidProxy) -> Proxy? {
        let proxy = scheme == "https" ? https : http
        let fault = faults[scheme]
        guard proxy != nil || fault != nil else { return nil }
        let (host, port) = (HostName(ofAuthority: authority), HostName.port(ofAuthority: authority))
        let isExcluded = exclusions.contains {
            ProxyExclusion($0).covers(host, port: port ?? (scheme == "https" ? 443 : 80))
        }
        if isExcluded { return nil }
        if let fault { throw fault }
        return proxy
    }
}
