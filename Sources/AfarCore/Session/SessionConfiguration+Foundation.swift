#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Properties that apply only to Foundation's `URLSession`.
extension SessionConfiguration {
    /// The ``protocolClasses``, or nil if all of them are Foundation's own.
    var foreignProtocolClasses: [AnyClass]? {
        guard let protocolClasses else { return nil }
        let standard = [URLSessionConfiguration.default, .ephemeral].flatMap { $0.protocolClasses ?? [] }
        let standardIDs = Set(standard.map(ObjectIdentifier.init))
        return protocolClasses.allSatisfy { standardIDs.contains(ObjectIdentifier($0)) } ? nil : protocolClasses
    }

    func checkIdentifier(for transport: any Transport) throws {
        guard let identifier else { return }
        throw unsupported(
            "no transport, including \(transport.capabilities.name), supports background sessions (\(identifier)). "
                + "Use a configuration without an identifier, such as URLSessionConfiguration.default")
    }

    /// Returns ``network``, with the proxies of Foundation's configuration if the transport doesn't apply those proxies itself.
    func networkSettings(for transport: any Transport) throws -> NetworkSettings? {
        let features = transport.capabilities.features
        guard let foundationProxies, !features.contains(.proxies) else { return network }
        guard features.contains(.networkSettings), let proxies = foundationProxies.settings else {
            throw unsupported(
                "the configuration has a connectionProxyDictionary, and the \(transport.capabilities.name) transport would "
                    + "connect without a proxy. Also pass it to URLSessionTransport(configuration:), or remove it")
        }
        var settings = network ?? NetworkSettings()
        settings.proxies = proxies
        return settings
    }

    func checkTLSSettings(for transport: any Transport) throws {
        let settings: [(String, Bool)] = [
            ("certificateBundle", certificateBundle != nil),
            ("validatesCertificatesStrictly", validatesCertificatesStrictly), ("tlsCipherList", tlsCipherList != nil),
            ("tls13CipherSuites", tls13CipherSuites != nil), ("tlsKeyLogFile", tlsKeyLogFile != nil),
        ]
        let unsupportedSettings = settings.filter(\.1).map(\.0)
        guard !unsupportedSettings.isEmpty, !transport.capabilities.features.contains(.serverTrust) else { return }
        throw unsupported(
            "the configuration has \(unsupportedSettings.joined(separator: ", ")), which the \(transport.capabilities.name) transport "
                + "would ignore. Remove these settings, or use HTTPTransport")
    }

    private func unsupported(_ message: String) -> AFError {
        let error = TransportError(.unsupportedByTransport, phase: .queued, url: nil, message: message)
        return .sessionTaskFailed(error: error.urlError)
    }
}

extension SessionConfiguration {
    /// Creates a configuration with the values of a Foundation configuration.
    ///
    /// This initializer copies the timeouts, headers, connections per host, protocol classes, identifier, credential storage,
    /// cookie storage and cookie settings, cache policy and cache. It doesn't copy the shared cache. On Apple platforms, it
    /// also copies `waitsForConnectivity`.
    ///
    /// Afar's transports for Linux use the HTTP and SOCKS proxies and the list of exceptions in the `connectionProxyDictionary`.
    /// With a transport that would bypass the proxies, each request fails before it is sent. To use `URLSessionTransport`, pass
    /// the proxies to `URLSessionTransport(configuration:)` too.
    public init(_ configuration: URLSessionConfiguration) {
        self.init()
        timeoutIntervalForRequest = configuration.timeoutIntervalForRequest
        timeoutIntervalForResource = configuration.timeoutIntervalForResource
        httpMaximumConnectionsPerHost = configuration.httpMaximumConnectionsPerHost
        protocolClasses = configuration.protocolClasses
        identifier = configuration.identifier
        credentialProvider = configuration.urlCredentialStorage.map(URLCredentialStorageProvider.init)
        requestCachePolicy = configuration.requestCachePolicy
        if configuration.urlCache !== URLCache.shared { urlCache = configuration.urlCache }
        httpCookieStorage = configuration.httpCookieStorage
        httpShouldSetCookies = configuration.httpShouldSetCookies
        httpCookieAcceptPolicy = configuration.httpCookieAcceptPolicy
        foundationProxies = FoundationProxies(configuration.connectionProxyDictionary)
        #if canImport(Darwin)
            waitsForConnectivity = configuration.waitsForConnectivity
        #endif
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            if let name = name as? String { headers.update(name: name, value: "\(value)") }
        }
    }
}

extension Session {
    /// The ``configuration`` as a Foundation configuration. As in Alamofire, it is a copy. Changes to it don't affect the session.
    public var sessionConfiguration: URLSessionConfiguration { configuration.urlSessionConfiguration }
}

extension SessionConfiguration {
    /// A new Foundation configuration with this configuration's timeouts, headers, connections per host, protocol classes,
    /// credential storage, cache and cookie settings. If this configuration was created from a Foundation configuration, the
    /// returned configuration also has the proxies of the original.
    public var urlSessionConfiguration: URLSessionConfiguration {
        let copy = URLSessionConfiguration.default
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.timeoutIntervalForResource = timeoutIntervalForResource
        copy.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
        copy.headers = headers
        copy.urlCredentialStorage = (credentialProvider as? URLCredentialStorageProvider)?.storage
        copy.urlCache = urlCache
        copy.requestCachePolicy = requestCachePolicy
        copy.httpCookieStorage = httpCookieStorage
        copy.httpShouldSetCookies = httpShouldSetCookies
        copy.httpCookieAcceptPolicy = httpCookieAcceptPolicy
        if let protocolClasses { copy.protocolClasses = protocolClasses }
        copy.connectionProxyDictionary = foundationProxies?.dictionary
        return copy
    }
}

struct FoundationProxies: @unchecked Sendable {
    // Sendable: the dictionary's values are never changed.

    let dictionary: [AnyHashable: Any]
    /// The proxies, or nil if the dictionary has settings that only Foundation supports, such as a proxy auto-configuration
    /// script.
    let settings: ProxySettings?

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
        self.dictionary = dictionary
        self.settings = isKnown ? settings : nil
    }
}

// MARK: - Default configurations

extension URLSessionConfiguration: AlamofireExtended {}

extension AlamofireExtension where ExtendedType: URLSessionConfiguration {
    /// A new `URLSessionConfiguration.default` with the default headers for requests. See ``HTTPHeaders/default``.
    public static var `default`: URLSessionConfiguration { withDefaultHeaders(.default) }

    /// A new `URLSessionConfiguration.ephemeral` with the default headers for requests. See ``HTTPHeaders/default``.
    public static var ephemeral: URLSessionConfiguration { withDefaultHeaders(.ephemeral) }

    private static func withDefaultHeaders(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.headers = .default
        return configuration
    }
}
