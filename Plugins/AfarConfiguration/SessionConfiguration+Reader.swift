public import AfarCore
import AfarTransport
public import Configuration
import Foundation

#if !Configuration
    #error(
        "AfarConfiguration requires the package trait Configuration: .package(url: …, traits: [.defaults, \"Configuration\"])"
    )
#endif

extension SessionConfiguration {
    /// Creates a configuration from the values that a reader of swift-configuration provides.
    ///
    /// ```swift
    /// let reader = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "api")
    /// let session = Session(configuration: try await SessionConfiguration(reader))
    /// ```
    ///
    /// With this reader, the environment variable `API_TIMEOUT_REQUEST` contains the request timeout.
    ///
    /// | Key | Value | Property |
    /// | --- | --- | --- |
    /// | `base-url` | an absolute URL with http or https, with a slash at the end of its path | `baseURL` |
    /// | `user-agent` | text without control characters | the header `User-Agent` |
    /// | `timeout.request` | seconds | `timeoutIntervalForRequest` |
    /// | `timeout.resource` | seconds | `timeoutIntervalForResource` |
    /// | `timeout.connect` | seconds | `timeoutIntervalForConnect` |
    /// | `waits-for-connectivity` | Boolean | `waitsForConnectivity` |
    /// | `maximum-connections-per-host` | 1 to 65,535 | `httpMaximumConnectionsPerHost` |
    /// | `maximum-redirects` | 0 or more | `maximumRedirects` |
    /// | `allows-insecure-redirects` | Boolean | `allowsInsecureRedirects` |
    /// | `maximum-response-body-size` | bytes, 1 or more | `maximumResponseBodySize` |
    /// | `http-version` | `automatic`, `1.1` or `2` | `httpVersion` |
    /// | `tls.minimum-version` | `1.2` or `1.3` | `tlsMinimumSupportedProtocolVersion` |
    /// | `tls.certificate-bundle` | the path of a PEM file | `certificateBundle` |
    /// | `proxy` | a URL such as `http://user:password@proxy.example:3128` | `network.proxies` |
    /// | `no-proxy` | a list of hosts to connect to without the `proxy` | the proxies' `exclusions` |
    ///
    /// An empty value is treated as missing. Timeouts are greater than 0 and at most 1,000,000,000 seconds, and can have decimals. The
    /// proxy is read as a secret, so access reporters don't log it. `no-proxy` has no effect without `proxy`.
    ///
    /// A reader can't list its keys, so a misspelled key normally has no effect. To detect such keys, pass all keys in the reader's scope
    /// as `keys`.
    ///
    /// - Parameters:
    ///   - reader: The reader, scoped to the session's keys. Its providers fetch each value once.
    ///   - defaults: The configuration whose values are used for missing keys. The default is ``SessionConfiguration/default``.
    ///   - keys: The keys that exist in the reader's scope, or the names of their environment variables without the scope's prefix. A
    ///     key that isn't in the table above is an error. The default is empty, which checks nothing.
    /// - Throws: A ``SessionConfigurationError`` for the first value that can't be used.
    public init(
        _ reader: ConfigReader, defaults: SessionConfiguration = .default, checking keys: [String] = []
    ) async throws(SessionConfigurationError) {
        self = defaults
        if let unknown = keys.first(where: { !Key.isKnown($0) }) { throw SessionConfigurationError(unknown: unknown) }
        try await readURLs(reader)
        try await readLimits(reader)
        try await readProtocols(reader)
    }

    private mutating func readURLs(_ reader: ConfigReader) async throws(SessionConfigurationError) {
        if let text = try await reader.text(.baseURL) {
            guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
                ["http", "https"].contains(scheme),
                url.host()?.isEmpty == false, url.path().isEmpty || url.path().hasSuffix("/")
            else { throw SessionConfigurationError(.baseURL) }
            baseURL = url
        }
        if let agent = try await reader.text(.userAgent) {
            guard agent.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw SessionConfigurationError(.userAgent)
            }
            headers.update(.userAgent(agent))
        }
        if let path = try await reader.text(.certificateBundle) {
            certificateBundle = URL(filePath: path)
        }
        if let url = try await reader.text(.proxy) {
            // The reasons of an `InvalidProxy` can contain parts of a malformed URL.
            guard let proxy = try? Proxy(url) else { throw SessionConfigurationError(.proxy) }
            var settings = network ?? NetworkSettings()
            settings.proxies = ProxySettings(proxy, exclusions: try await reader.list(.noProxy) ?? [])
            network = settings
        }
    }

    private mutating func readLimits(_ reader: ConfigReader) async throws(SessionConfigurationError) {
        if let seconds = try await reader.timeout(.requestTimeout) { timeoutIntervalForRequest = seconds }
        if let seconds = try await reader.timeout(.resourceTimeout) { timeoutIntervalForResource = seconds }
        if let seconds = try await reader.timeout(.connectTimeout) { timeoutIntervalForConnect = seconds }
        if let count = try await reader.integer(.maximumConnectionsPerHost, in: 1...65_535) {
            httpMaximumConnectionsPerHost = count
        }
        if let count = try await reader.integer(.maximumRedirects, in: 0...Int.max) { maximumRedirects = count }
        if let size = try await reader.integer(.maximumResponseBodySize, in: 1...Int.max) {
            maximumResponseBodySize = Int64(size)
        }
    }

    private mutating func readProtocols(_ reader: ConfigReader) async throws(SessionConfigurationError) {
        if let waits = try await reader.boolean(.waitsForConnectivity) { waitsForConnectivity = waits }
        if let allows = try await reader.boolean(.allowsInsecureRedirects) { allowsInsecureRedirects = allows }
        let versions = ["automatic": ExchangeOptions.HTTPVersion.automatic, "1.1": .http1, "2": .http2]
        if let version = try await reader.choice(.httpVersion, of: versions) { httpVersion = version }
        let minimums = ["1.2": ExchangeOptions.TLSVersion.v12, "1.3": .v13]
        if let version = try await reader.choice(.minimumTLSVersion, of: minimums) {
            tlsMinimumSupportedProtocolVersion = version
        }
    }
}

/// The keys, relative to the reader's scope.
enum Key: String, CaseIterable {
    case baseURL = "base-url"
    case userAgent = "user-agent"
    case requestTimeout = "timeout.request"
    case resourceTimeout = "timeout.resource"
    case connectTimeout = "timeout.connect"
    case waitsForConnectivity = "waits-for-connectivity"
    case maximumConnectionsPerHost = "maximum-connections-per-host"
    case maximumRedirects = "maximum-redirects"
    case allowsInsecureRedirects = "allows-insecure-redirects"
    case maximumResponseBodySize = "maximum-response-body-size"
    case httpVersion = "http-version"
    case minimumTLSVersion = "tls.minimum-version"
    case certificateBundle = "tls.certificate-bundle"
    case proxy
    case noProxy = "no-proxy"

    /// What the key's value must be.
    var requirement: String {
        switch self {
        case .baseURL:
            "an absolute URL with http or https and a slash at the end of its path, such as https://api.example.com/v1/"
        case .userAgent: "text without control characters"
        case .requestTimeout, .resourceTimeout, .connectTimeout:
            "a number of seconds greater than 0 and at most 1000000000"
        case .waitsForConnectivity, .allowsInsecureRedirects: "true or false"
        case .maximumConnectionsPerHost: "an integer from 1 to 65535"
        case .maximumRedirects: "an integer of 0 or more"
        case .maximumResponseBodySize: "a number of bytes of 1 or more"
        case .httpVersion: "automatic, 1.1 or 2"
        case .minimumTLSVersion: "1.2 or 1.3"
        case .certificateBundle: "the path of a file with PEM certificates"
        case .proxy:
            "a URL with http, https, socks5 or socks5h, such as http://proxy.example:3128, with special characters in the user name "
                + "and password percent-encoded"
        case .noProxy: "a list of hosts"
        }
    }

    /// Returns whether a key exists. Environment variables are spelled `BASE_URL` instead of `base-url`.
    static func isKnown(_ key: String) -> Bool {
        let name = environmentName(key)
        return allCases.contains { environmentName($0.rawValue) == name }
    }

    private static func environmentName(_ key: String) -> String {
        String(key.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }
}

// MARK: - Reading values

extension ConfigReader {
    /// Returns the value of a key, or nil if it doesn't exist.
    ///
    /// Only the reader's asynchronous methods distinguish a missing value from a value of the wrong type.
    private func value<Value: Sendable>(
        _ key: Key, _ fetch: (ConfigKey) async throws -> Value?
    ) async throws(SessionConfigurationError) -> Value? {
        do { return try await fetch(ConfigKey(key.rawValue)) } catch {
            // An empty environment variable counts as missing, not as a value of the wrong type.
            let text = try? await fetchString(forKey: ConfigKey(key.rawValue), isSecret: key == .proxy)
            if text == "" { return nil }
            throw SessionConfigurationError(key, readingFailed: error)
        }
    }

    fileprivate func text(_ key: Key) async throws(SessionConfigurationError) -> String? {
        let text = try await value(key) { try await fetchString(forKey: $0, isSecret: key == .proxy) }
        return text == "" ? nil : text
    }

    fileprivate func list(_ key: Key) async throws(SessionConfigurationError) -> [String]? {
        try await value(key) { try await fetchStringArray(forKey: $0) }
    }

    fileprivate func boolean(_ key: Key) async throws(SessionConfigurationError) -> Bool? {
        try await value(key) { try await fetchBool(forKey: $0) }
    }

    fileprivate func integer(
        _ key: Key, in range: ClosedRange<Int>
    ) async throws(SessionConfigurationError) -> Int? {
        let number = try await value(key) { try await fetchInt(forKey: $0) }
        if let number, !range.contains(number) { throw SessionConfigurationError(key) }
        return number
    }

    fileprivate func timeout(_ key: Key) async throws(SessionConfigurationError) -> Double? {
        let seconds = try await number(key)
        if let seconds, !(seconds > 0 && seconds <= 1e9) { throw SessionConfigurationError(key) }
        return seconds
    }

    private func number(_ key: Key) async throws(SessionConfigurationError) -> Double? {
        do { return try await value(key) { try await fetchDouble(forKey: $0) } } catch {
            // Not all providers convert integers.
            guard let integer = try? await fetchInt(forKey: ConfigKey(key.rawValue)) else { throw error }
            return Double(integer)
        }
    }

    fileprivate func choice<Value>(
        _ key: Key, of values: [String: Value]
    ) async throws(SessionConfigurationError) -> Value? {
        let value: Value?
        do {
            guard let name = try await text(key) else { return nil }
            value = values[name]
        } catch {
            // In JSON, versions can be numbers.
            guard let number = try? await number(key) else { throw error }
            value = values.first { Double($0.key) == number }?.value
        }
        guard let value else { throw SessionConfigurationError(key) }
        return value
    }
}
