#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
