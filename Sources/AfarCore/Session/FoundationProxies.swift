import Foundation

/// The proxies of Foundation's configuration.
enum FoundationProxies: Sendable {
    case settings(ProxySettings)
    /// There is something that only Foundation understands: a script that chooses, say.
    case unknown

    /// Reads a `connectionProxyDictionary`; nil when it says nothing.
    init?(_ dictionary: [AnyHashable: Any]?) {
        guard let dictionary, !dictionary.isEmpty else { return nil }
        var settings = ProxySettings()
        var known: Set<String> = ["ExceptionsList"]
        func proxy(_ prefix: String, _ kind: Proxy.Kind) -> Proxy? {
            known.formUnion(["Enable", "Proxy", "Port"].map { prefix + $0 })
            let isEnabled = (dictionary[prefix + "Enable"] as? NSNumber)?.boolValue ?? false
            guard isEnabled, let host = dictionary[prefix + "Proxy"] as? String else { return nil }
            let port = (dictionary[prefix + "Port"] as? NSNumber)?.intValue
            guard let proxy = try? Proxy(kind, host: host, port: port) else {
                known = []
                return nil
            }
            return proxy
        }
        let socks = proxy("SOCKS", .socks5h)
        settings.http = proxy("HTTP", .http) ?? socks
        settings.https = proxy("HTTPS", .http) ?? socks
        settings.exclusions = dictionary["ExceptionsList"] as? [String] ?? []
        let isKnown = dictionary.keys.allSatisfy { ($0 as? String).map(known.contains) ?? false }
        self = isKnown ? .settings(settings) : .unknown
    }
}
