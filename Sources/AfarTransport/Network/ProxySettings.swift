import Foundation

/// Which requests go through which proxy.
public struct ProxySettings: Sendable, Hashable {
    /// The proxy of requests over http; nil when they go straight to their hosts.
    public var http: Proxy?
    /// The proxy of requests over https; nil when they go straight to their hosts.
    public var https: Proxy?
    /// The hosts to which requests go straight, as in `no_proxy`: `example.com` is the host and all below it, `.example.com` the same,
    /// `10.0.0.1` an address, `10.0.0.0/8` a network (RFC 4632), `example.com:8080` a port of a host, and `*` everything.
    /// Case does not matter.
    public var exclusions: [String]
    /// Why a proxy of the environment cannot be used, by the schemes of the requests that would go through it.
    private var faults: [String: InvalidProxy] = [:]

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - http: The proxy of requests over http. The default is nil: there is none.
    ///   - https: The proxy of requests over https. The default is nil: there is none.
    ///   - exclusions: The hosts to which requests go straight, as in ``exclusions``. The default is none.
    public init(http: Proxy? = nil, https: Proxy? = nil, exclusions: [String] = []) {
        (self.http, self.https, self.exclusions) = (http, https, exclusions)
    }

    /// One proxy for all requests but those to excluded hosts.
    public init(_ proxy: Proxy, exclusions: [String] = []) {
        self.init(http: proxy, https: proxy, exclusions: exclusions)
    }

    /// All requests go straight to their hosts.
    public static let none = ProxySettings()

    /// What the environment of the process says at this moment; see ``init(environment:)``.
    public static var environment: ProxySettings { ProxySettings(environment: ProcessInfo.processInfo.environment) }

    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl and most tools do.
    ///
    /// The variables may be written in capitals too, except `HTTP_PROXY`: a web server sets that for its CGI programs from a
    /// field of the request. One in small letters comes first, and an empty one counts as none. `no_proxy` is ``exclusions`` with commas
    /// or spaces between them. A proxy that cannot be used fails the requests that would go through it.
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

    /// Whether all requests go straight to their hosts.
    package var isDirect: Bool { http == nil && https == nil && faults.isEmpty }

    /// The proxy of requests to a host; nil when they go straight there.
    ///
    /// - Throws: ``InvalidProxy`` when the environment names one that cannot be used.
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
