#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// What only Foundation's `URLSession` knows.
extension SessionConfiguration {
    /// ``protocolClasses``, if there is one among them that Foundation does not bring along.
    var foreignProtocolClasses: [AnyClass]? {
        guard let protocolClasses else { return nil }
        let own = [URLSessionConfiguration.default, .ephemeral].flatMap { $0.protocolClasses ?? [] }
        let isOwn = Set(own.map(ObjectIdentifier.init))
        return protocolClasses.allSatisfy { isOwn.contains(ObjectIdentifier($0)) } ? nil : protocolClasses
    }

    func checkIdentifier(for transport: any Transport) throws {
        guard let identifier else { return }
        throw unsupported(
            "no transport has background sessions (\(identifier)), \(transport.capabilities.name) neither. "
                + "Use a configuration without an identifier, such as URLSessionConfiguration.default")
    }

    /// ``network``, or else the proxies of Foundation's configuration, of which a transport may know by itself.
    func networkSettings(for transport: any Transport) throws -> NetworkSettings? {
        let features = transport.capabilities.features
        guard let foundationProxies, !features.contains(.proxies) else { return network }
        guard features.contains(.networkSettings), case .settings(let proxies) = foundationProxies else {
            throw unsupported(
                "the configuration has a connectionProxyDictionary, and the \(transport.capabilities.name) transport would "
                    + "connect without a proxy. Give it to URLSessionTransport(configuration:) too, or leave it out")
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
        let wanted = settings.filter(\.1).map(\.0)
        guard !wanted.isEmpty, !transport.capabilities.features.contains(.serverTrust) else { return }
        throw unsupported(
            "the configuration has \(wanted.joined(separator: ", ")), which the \(transport.capabilities.name) transport "
                + "would ignore. Leave it out, or use CurlTransport")
    }

    private func unsupported(_ message: String) -> AFError {
        let error = TransportError(.unsupportedByTransport, phase: .queued, url: nil, message: message)
        return .sessionTaskFailed(error: error.urlError)
    }
}

extension SessionConfiguration {
    /// Takes over the timeouts, the headers, the connections per host, the protocol classes, the identifier, the storages of
    /// credentials and cookies with what is said about cookies, and the cache of Foundation's configuration (not the one that all
    /// have); and where that has it (on Apple's systems) whether requests wait for a network.
    ///
    /// So does a `connectionProxyDictionary` with proxies of HTTP and SOCKS and a list of exceptions, over libcurl.
    /// Over a transport that would go around the proxies, each request fails before it is sent; `URLSessionTransport(configuration:)`
    /// is to be given them too.
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
    /// The ``configuration`` as Foundation's: its timeouts, headers, connections per host, protocol classes, storage of
    /// credentials, and cookies.
    ///
    /// It is a copy, as with Alamofire: what is changed in it changes nothing in the session.
    public var sessionConfiguration: URLSessionConfiguration {
        let copy = URLSessionConfiguration.default
        copy.timeoutIntervalForRequest = configuration.timeoutIntervalForRequest
        copy.timeoutIntervalForResource = configuration.timeoutIntervalForResource
        copy.httpMaximumConnectionsPerHost = configuration.httpMaximumConnectionsPerHost
        copy.headers = configuration.headers
        copy.urlCredentialStorage = (configuration.credentialProvider as? URLCredentialStorageProvider)?.storage
        copy.urlCache = configuration.urlCache
        copy.requestCachePolicy = configuration.requestCachePolicy
        copy.httpCookieStorage = configuration.httpCookieStorage
        copy.httpShouldSetCookies = configuration.httpShouldSetCookies
        copy.httpCookieAcceptPolicy = configuration.httpCookieAcceptPolicy
        if let protocolClasses = configuration.protocolClasses { copy.protocolClasses = protocolClasses }
        return copy
    }
}
