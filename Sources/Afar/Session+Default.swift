public import AfarCore
import AfarPublicSuffix
public import AfarReachability
import AfarTransport
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif
#if canImport(AfarCurl)
    import AfarCurl
    import AfarHTTP
#else
    import AfarURLSession
#endif

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The shared session, ``Session/default``.
public let AF = Session.default

extension Session {
    // Disfavored, because the `Alamofire` module declares another `default` for `SessionManager`, its subclass of `Session`.

    /// The session of ``AF``. It has the default configuration.
    @_disfavoredOverload
    public static let `default` = Session()

    /// Creates a session with this platform's transport. On Apple platforms, that is `URLSessionTransport`. On Linux, it is
    /// `HTTPTransport`, with `CurlTransport` for HTTP/3, Negotiate and NTLM.
    ///
    /// - Parameters:
    ///   - configuration: The session's timeouts, limits, default headers and connections per host.
    ///   - delegate: The receiver of the session's events. Each session needs its own.
    ///   - rootQueue: The serial queue on which the delegate's closures are called.
    ///   - startRequestsImmediately: Whether a request starts when its first handler is added. The default is true.
    ///   - requestSetup: When a `URLRequest` is created. The default is `.lazy`.
    ///   - requestQueue: The queue on which the `URLRequest` is created. The default is nil: it is created in the request's own
    ///     task.
    ///   - serializationQueue: The queue on which serializers run. The default is nil: they run in the request's own task.
    ///   - interceptor: Adapts and retries every request. The default is nil.
    ///   - serverTrustManager: The evaluators of servers' certificates. The default is nil: the transport evaluates the
    ///     certificates.
    ///   - redirectHandler: Decides whether redirects are followed. The default is nil: all are followed.
    ///   - cachedResponseHandler: Decides which responses the configuration's cache stores. The default is nil: the cache stores
    ///     every response that can be stored.
    ///   - eventMonitors: Receive the events of every request. The default is none.
    ///   - stages: Process every exchange with a server, including redirects and responses to challenges, in this order. The
    ///     default is none.
    ///   - connectivity: Reports whether a network is available. From its first request on, the session observes this provider,
    ///     and closes its idle connections when the network changes. The default monitors this machine.
    public convenience init(
        configuration: SessionConfiguration = .default,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "afar.session.root"),
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [],
        stages: [any ExchangeStage] = [],
        connectivity: (any ConnectivityProvider)? = NetworkMonitor.shared
    ) {
        var configuration = configuration
        let transport = Session.platformTransport(completing: &configuration)
        self.init(
            configuration: configuration, delegate: delegate, rootQueue: rootQueue,
            startRequestsImmediately: startRequestsImmediately, requestSetup: requestSetup, requestQueue: requestQueue,
            serializationQueue: serializationQueue, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors, stages: stages,
            transport: transport, connectivity: connectivity)
    }

    /// Creates a session from Foundation's configuration: its timeouts, headers and connections per host.
    ///
    /// A configuration with `protocolClasses` requires `URLSessionTransport`. On Linux, that isn't the default transport, so pass a
    /// `URLSessionTransport` to
    /// ``Session/init(configuration:delegate:rootQueue:startRequestsImmediately:requestSetup:requestQueue:serializationQueue:interceptor:serverTrustManager:redirectHandler:cachedResponseHandler:eventMonitors:stages:transport:connectivity:)``
    /// together with `SessionConfiguration(configuration)`. Otherwise, requests fail before they are sent.
    ///
    /// - Parameters:
    ///   - configuration: Foundation's configuration.
    ///   - delegate: The receiver of the session's events. Each session needs its own.
    ///   - rootQueue: The serial queue on which the delegate's closures are called.
    ///   - startRequestsImmediately: Whether a request starts when its first handler is added. The default is true.
    ///   - requestSetup: When a `URLRequest` is created. The default is `.lazy`.
    ///   - requestQueue: The queue on which the `URLRequest` is created. The default is nil: it is created in the request's own
    ///     task.
    ///   - serializationQueue: The queue on which serializers run. The default is nil: they run in the request's own task.
    ///   - interceptor: Adapts and retries every request. The default is nil.
    ///   - serverTrustManager: The evaluators of servers' certificates. The default is nil: the transport evaluates the
    ///     certificates.
    ///   - redirectHandler: Decides whether redirects are followed. The default is nil: all are followed.
    ///   - cachedResponseHandler: Decides which responses the configuration's cache stores. The default is nil: the cache stores
    ///     every response that can be stored.
    ///   - eventMonitors: Receive the events of every request. The default is none.
    ///   - stages: Process every exchange with a server, including redirects and responses to challenges, in this order. The
    ///     default is none.
    ///   - connectivity: Reports whether a network is available. From its first request on, the session observes this provider,
    ///     and closes its idle connections when the network changes. The default monitors this machine.
    @_disfavoredOverload
    public convenience init(
        configuration: URLSessionConfiguration,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "afar.session.root"),
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [],
        stages: [any ExchangeStage] = [],
        connectivity: (any ConnectivityProvider)? = NetworkMonitor.shared
    ) {
        self.init(
            configuration: SessionConfiguration(configuration), delegate: delegate, rootQueue: rootQueue,
            startRequestsImmediately: startRequestsImmediately, requestSetup: requestSetup, requestQueue: requestQueue,
            serializationQueue: serializationQueue, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors, stages: stages,
            connectivity: connectivity)
    }
}

extension Session {
    /// Adds the platform's defaults to a configuration, as `Session()` does, and returns the platform's transport for it.
    ///
    /// A subclass with its own designated initializer passes the configuration and the transport to `super.init`. The defaults
    /// are the system's public suffix list and, on Linux, the proxies of the environment.
    public static func platformTransport(completing configuration: inout SessionConfiguration) -> any Transport {
        configuration.publicSuffixList = configuration.publicSuffixList ?? SystemPublicSuffixList.shared
        #if canImport(AfarCurl)
            configuration.network = configuration.network ?? .environment
            return FirstCapableTransport([
                HTTPTransport(configuration: .init(configuration)), CurlTransport(configuration: .init(configuration)),
            ])
        #else
            return URLSessionTransport()
        #endif
    }
}
