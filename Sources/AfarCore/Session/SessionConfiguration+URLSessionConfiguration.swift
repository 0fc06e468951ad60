#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
