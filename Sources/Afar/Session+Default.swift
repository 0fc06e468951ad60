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
/// The session that everybody shares: ``Session/default``.
public let AF = Session.default

extension Session {
    /// The session behind ``AF`` and the functions of this module, with the default configuration.
    public static let `default` = Session()

    /// Creates a session with this platform's transport: on Linux, `HTTPTransport`, and `CurlTransport` for HTTP/2, HTTP/3, Negotiate and
    /// NTLM; on Apple platforms, `URLSessionTransport`.
    ///
    /// - Parameters:
    ///   - configuration: Timeouts, limits, default headers, connections per host.
    ///   - delegate: The hub of the session's events; give each session its own.
    ///   - rootQueue: Where the delegate's closures are called. It must be serial.
    ///   - startRequestsImmediately: Whether a request starts when its first handler is added. The default is true.
    ///   - requestSetup: When `URLRequest`s are made. The default is `.lazy`.
    ///   - requestQueue: Where they are made. The default is nil: in the request's own task.
    ///   - serializationQueue: Where serializers run. The default is nil: in the request's own task.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Knows who decides on servers' certificates. The default is nil: the transport does.
    ///   - redirectHandler: Decides about redirects. The default is nil: they are followed.
    ///   - cachedResponseHandler: Decides what the configuration's cache keeps. The default is nil: all that may be kept.
    ///   - eventMonitors: Observe the events of every request. The default is none.
    ///   - stages: Take part in every exchange with a server, redirects and answers to challenges included, in this order.
    ///     The default is none.
    ///   - connectivity: Knows whether there is a network. From its first request on the session listens to it, and closes
    ///     its idle connections when the network has changed. The default is this machine's own.
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
        configuration.publicSuffixList = configuration.publicSuffixList ?? SystemPublicSuffixList.shared
        #if canImport(AfarCurl)
            configuration.network = configuration.network ?? .environment
        #endif
        self.init(
            configuration: configuration, delegate: delegate, rootQueue: rootQueue,
            startRequestsImmediately: startRequestsImmediately, requestSetup: requestSetup, requestQueue: requestQueue,
            serializationQueue: serializationQueue, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors, stages: stages,
            transport: platformTransport(for: configuration), connectivity: connectivity)
    }

    /// Makes a session from Foundation's configuration, of which it takes over the timeouts, the headers and the
    /// connections per host.
    ///
    /// Its `protocolClasses` need `URLSessionTransport`: where that is not this platform's transport (on Linux), give it to
    /// ``Session/init(configuration:delegate:rootQueue:startRequestsImmediately:requestSetup:requestQueue:serializationQueue:interceptor:serverTrustManager:redirectHandler:cachedResponseHandler:eventMonitors:stages:transport:connectivity:)``
    /// together with `SessionConfiguration(configuration)`, or requests fail before they are sent.
    ///
    /// - Parameters:
    ///   - configuration: Foundation's configuration.
    ///   - delegate: The hub of the session's events; give each session its own.
    ///   - rootQueue: Where the delegate's closures are called. It must be serial.
    ///   - startRequestsImmediately: Whether a request starts when its first handler is added. The default is true.
    ///   - requestSetup: When `URLRequest`s are made. The default is `.lazy`.
    ///   - requestQueue: Where they are made. The default is nil: in the request's own task.
    ///   - serializationQueue: Where serializers run. The default is nil: in the request's own task.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Knows who decides on servers' certificates. The default is nil: the transport does.
    ///   - redirectHandler: Decides about redirects. The default is nil: they are followed.
    ///   - cachedResponseHandler: Decides what the configuration's cache keeps. The default is nil: all that may be kept.
    ///   - eventMonitors: Observe the events of every request. The default is none.
    ///   - stages: Take part in every exchange with a server, redirects and answers to challenges included, in this order.
    ///     The default is none.
    ///   - connectivity: Knows whether there is a network. From its first request on the session listens to it, and closes
    ///     its idle connections when the network has changed. The default is this machine's own.
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

private func platformTransport(for configuration: SessionConfiguration) -> any Transport {
    #if canImport(AfarCurl)
        FirstCapableTransport([
            HTTPTransport(configuration: .init(configuration)), CurlTransport(configuration: .init(configuration)),
        ])
    #else
        URLSessionTransport()
    #endif
}
