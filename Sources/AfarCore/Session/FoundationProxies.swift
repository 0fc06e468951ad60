import Foundation

/// The proxy settings of a Foundation configuration.
enum FoundationProxies: Sendable {
    case settings(ProxySettings)
    /// The settings include something that only Foundation supports, such as a proxy auto-configuration script.
    case unknown

    /// Reads a `connectionProxyDictionary`. Returns nil if the dictionary is nil or empty.
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
