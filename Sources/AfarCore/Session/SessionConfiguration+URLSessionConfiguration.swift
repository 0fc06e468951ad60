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
    /// With a `connectionProxyDictionary`, each request fails before it is sent, over a transport that would connect
    /// directly all the same: all but `URLSessionTransport(configuration:)`, which is to be given it too.
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
        hasProxies = configuration.connectionProxyDictionary?.isEmpty == false
        #if canImport(Darwin)
            waitsForConnectivity = configuration.waitsForConnectivity
        #endif
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
            if let name = name as? String { headers.update(name: name, value: "\(value)") }
        }
    }
}
