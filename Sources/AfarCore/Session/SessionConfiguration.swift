public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The settings of a session. Properties with the same meaning as in `URLSessionConfiguration` have the same names.
public struct SessionConfiguration: Sendable {
    /// The options of every exchange. Some other properties, such as ``timeoutIntervalForRequest``, are aliases for these
    /// options. ``headers`` replaces the option `defaultFields`. If ``network`` isn't nil, it replaces the option `network`.
    public var exchangeOptions = ExchangeOptions()

    /// The URL against which the relative URLs of requests are resolved (RFC 3986, section 5.2). The default is nil: all URLs must be
    /// absolute.
    ///
    /// With the base `https://api.example.com/v1/`, `session.request("users/3")` requests `https://api.example.com/v1/users/3`.
    /// The base should end with a slash, because the text after its last slash is replaced. A URL that begins with one slash
    /// replaces the whole path. A URL that begins with two slashes also replaces the host. Check text from users before you use
    /// it as a URL.
    public var baseURL: URL?
    /// Headers that the session adds to each request. A request's own header of the same name takes precedence. The default is
    /// ``HTTPHeaders/default``.
    ///
    /// If `Accept-Encoding` has its default value, the session sends the codings that its transport can decode. An invalid header
    /// makes every request fail.
    public var headers = HTTPHeaders.default
    /// The time, in seconds, after which a request times out if no data is sent or received. The default is 60. A `URLRequest`
    /// whose `timeoutInterval` isn't 60 uses its own value.
    public var timeoutIntervalForRequest: TimeInterval {
        get { exchangeOptions.idleTimeout }
        set { exchangeOptions.idleTimeout = newValue }
    }
    /// The transfer rate up to which a request counts as idle, in bytes per second. See
    /// ``ExchangeOptions/minimumTransferRate``.
    public var minimumTransferRate: Double {
        get { exchangeOptions.minimumTransferRate }
        set { exchangeOptions.minimumTransferRate = newValue }
    }
    /// The maximum duration of one attempt of a request, in seconds. The default is seven days.
    public var timeoutIntervalForResource: TimeInterval {
        get { exchangeOptions.totalTimeout }
        set { exchangeOptions.totalTimeout = newValue }
    }
    /// The maximum total time to resolve the host, connect and complete the TLS handshake, in seconds. The default is 30. This
    /// property has an effect only if the transport's capabilities include this timeout.
    public var timeoutIntervalForConnect: TimeInterval {
        get { exchangeOptions.connectTimeout }
        set { exchangeOptions.connectTimeout = newValue }
    }
    /// The source of time for delays and expiration dates. The default is the system's time.
    ///
    /// The session uses it for the delays between retries, rate limits, deadlines, the freshness of cached responses, and the expiration
    /// of cookies and HSTS policies. The timeouts of transports always use real time. In tests, use a `ManualClock` of AfarTesting.
    public var timeSource: TimeSource {
        get { exchangeOptions.timeSource }
        set { exchangeOptions.timeSource = newValue }
    }
    /// A Boolean value that indicates whether requests wait for a network instead of failing when none is available. The
    /// default is false.
    ///
    /// A request waits until the session's ``Session/connectivity`` reports a network, until the request is canceled, or until
    /// ``timeoutIntervalForResource`` has passed. ``timeoutIntervalForRequest`` starts only when the request is sent. A request
    /// whose host is unreachable, or can't be resolved by any name server, also waits if the provider reports no network at
    /// that time or within the next 0.3 seconds. Requests to the local machine never wait. All other requests wait, even if
    /// their host is reachable without the network that the provider checks. Without a connectivity provider, this property has
    /// no effect.
    public var waitsForConnectivity = false
    /// The maximum number of open connections to one host. The default is 6. Transports read it when they are created.
    /// Connections with other TLS or network settings have a separate limit. WebSockets and raw connections each have a
    /// separate limit, which counts a connection only while it is being opened.
    public var httpMaximumConnectionsPerHost = 6
    /// The lowest TLS version that is accepted. The default is 1.2. With `URLSessionTransport` on Linux, the system's OpenSSL
    /// must enforce 1.2, and a minimum of 1.3 makes each request fail.
    public var tlsMinimumSupportedProtocolVersion: ExchangeOptions.TLSVersion {
        get { exchangeOptions.minimumTLSVersion }
        set { exchangeOptions.minimumTLSVersion = newValue }
    }
    /// A Boolean value that indicates whether a body without a length can end without a TLS `close_notify` alert. See
    /// ``ExchangeOptions/acceptsBodiesWithoutTLSCloseNotify``.
    public var acceptsBodiesWithoutTLSCloseNotify: Bool {
        get { exchangeOptions.acceptsBodiesWithoutTLSCloseNotify }
        set { exchangeOptions.acceptsBodiesWithoutTLSCloseNotify = newValue }
    }
    /// A file with the PEM certificates of the authorities to trust instead of the system's authorities. The default is nil.
    ///
    /// Transports read this property and the next four properties when they are created. To configure your own transport, use
    /// `HTTPTransport(configuration: .init(configuration))`. If you set one of these properties and the transport doesn't
    /// support it, each request fails.
    public var certificateBundle: URL?
    /// A Boolean value that indicates whether servers' certificates must conform strictly to RFC 5280 (OpenSSL's
    /// `X509_V_FLAG_X509_STRICT`). Certificates of private authorities often don't conform, for example because they lack a key
    /// identifier. Evaluators apply this check too. The default is false. Transports read it when they are created.
    public var validatesCertificatesStrictly = false
    /// The ciphers for TLS 1.2, as a list in OpenSSL's format. The default is nil, which uses OpenSSL's default. Transports
    /// read it when they are created.
    public var tlsCipherList: String?
    /// The ciphers for TLS 1.3, as a list in OpenSSL's format. The default is nil, which uses OpenSSL's default. Transports
    /// read it when they are created.
    public var tls13CipherSuites: String?
    /// A file to which the secrets of each TLS handshake are appended, for debugging with Wireshark. Anyone with this file can
    /// decrypt the traffic. The default is nil. Transports read it when they are created.
    public var tlsKeyLogFile: URL?
    /// The certificate that the client presents to the server of a request's original URL if the server requests a certificate.
    /// After a redirect, the client never presents it to another server. The default is nil. If this property is set and the
    /// transport doesn't support client certificates, https requests fail.
    public var clientIdentity: ClientIdentity?
    /// The certificates that the client presents to specific hosts instead of ``clientIdentity``, even after redirects. The
    /// keys are host names or addresses, without ports. The default is none.
    public var clientIdentities: [String: ClientIdentity] = [:]
    /// The maximum size of a response in memory after decoding, in bytes. A request with a larger response fails. The default
    /// is 256 MiB. Nil means no limit.
    public var maximumResponseBodySize: Int64? = 256 * 1024 * 1024
    /// The decoder for the values of responses, downloads, streams and WebSockets, unless a `decoder:` argument specifies another one. The
    /// default is a `JSONDecoder`.
    ///
    /// The default `decoder:` argument is a ``SessionDecoder``, which uses this decoder. Parsers such as `.jsonLines(of:)` use
    /// this decoder too, so it should decode JSON. Don't change a `JSONDecoder` after you have created the session, because
    /// requests use it in several threads.
    public var decoder: any DataDecoder = JSONDecoder()
    /// The encoder for the parameters of requests, unless an `encoder:` or `encoding:` argument specifies another one. The
    /// default is a ``URLEncodedFormParameterEncoder``. With this default, ``URLEncoding`` encodes dictionaries.
    ///
    /// The default argument is a ``SessionEncoder``, which uses this encoder. If this encoder isn't a
    /// ``URLEncodedFormParameterEncoder``, it encodes only the parameters of methods with a body. The parameters of GET, HEAD
    /// and DELETE requests, and of WebSockets, then become part of the URL.
    public var encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default
    /// The validation of the responses to requests that have no validators of their own. The default is nil: these responses aren't
    /// validated.
    public var validation: ResponseValidation?
    /// A Boolean value that indicates whether compressed bodies are decoded. See ``ExchangeOptions/decodesContent``.
    public var decodesContent: Bool {
        get { exchangeOptions.decodesContent }
        set { exchangeOptions.decodesContent = newValue }
    }
    /// The maximum growth of a compressed body during decoding. See ``ExchangeOptions/decompressionLimit``.
    public var decompressionLimit: DecompressionLimit? {
        get { exchangeOptions.decompressionLimit }
        set { exchangeOptions.decompressionLimit = newValue }
    }
    /// The maximum size of a response's head, in bytes. See ``ExchangeOptions/maximumResponseHeadSize``.
    public var maximumResponseHeadSize: Int {
        get { exchangeOptions.maximumResponseHeadSize }
        set { exchangeOptions.maximumResponseHeadSize = newValue }
    }

    /// The maximum number of redirects in one attempt. A request with more redirects fails. The default is 20.
    public var maximumRedirects = 20
    /// A Boolean value that indicates whether redirects from https to http are followed. If it is false, which is the default,
    /// such a redirect makes the request fail.
    public var allowsInsecureRedirects = false
    /// Additional names of sensitive headers, such as `X-Customer`. Names are case-insensitive.
    ///
    /// Afar recognizes all names that indicate a credential, such as `Authorization`, `Cookie` and `X-Api-Key`. List only other
    /// names. Sensitive headers are redacted in logs and aren't sent to another scheme, host or port after a redirect. The
    /// cache stores responses separately for each value of these headers, except responses that are `public`.
    public var sensitiveHeaders: Set<String> = []

    /// Provides credentials for 401 challenges to requests that have no credentials of their own. The default is nil.
    /// ``URLCredentialStorageProvider`` reads credentials from Foundation's storage.
    public var credentialProvider: (any CredentialProvider)?
    /// The authentication schemes that requests use, from strongest to weakest. The default is
    /// `StandardAuthentication.allCases`: Negotiate, Digest, NTLM and Basic.
    ///
    /// The credential is used with the first of these schemes that the server offers. If a credential is a key for your own
    /// scheme, leave out ``StandardAuthentication/basic``, which would send the key as a password.
    public var authenticationSchemes: [any AuthenticationScheme] = StandardAuthentication.allCases

    /// The store for the session's cookies, or nil if the session doesn't store or send cookies. The default is a new
    /// ``MemoryCookieStore``. Sessions created with copies of one configuration share the store.
    ///
    /// ``FileCookieStore`` keeps cookies between runs of a program. A request that has a `Cookie` header is sent unchanged,
    /// without the store's cookies.
    public var cookieStore: (any CookieStore)? = MemoryCookieStore()
    /// A Boolean value that indicates whether the cookies of the ``cookieStore`` are added to requests. The default is true.
    /// Cookies are stored even if it is false; see ``httpCookieAcceptPolicy``.
    public var httpShouldSetCookies = true
    /// Whether the cookies of the ``cookieStore`` are also added to requests that have a `Cookie` header. A cookie in the header
    /// replaces a stored one with the same name.
    package var joinsCookies = false
    /// Determines which cookies are stored. The default is `.onlyFromMainDocumentDomain`. With this policy, if a request has a
    /// `mainDocumentURL`, only cookies from that site are stored. Otherwise, all cookies are stored.
    public var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    /// The list of domain names for which cookies aren't allowed, such as `co.uk`. If the value is nil, which is the default,
    /// sessions with the default transport of the module `Afar` use the system's list. Other sessions reject only names without
    /// a dot.
    public var publicSuffixList: (any PublicSuffixList)?
    /// The store of the hosts that require https (HSTS, RFC 6797). http requests to them are sent over https. The default is
    /// nil, which ignores this requirement.
    public var hstsStore: (any HSTSStore)?
    /// The store of responses that are reused for later requests (RFC 9111). The default is nil, which stores nothing.
    ///
    /// The store is a private cache for a single user. Requests with different `Authorization` fields get different responses,
    /// unless the server marks the responses as public.
    public var cacheStore: (any CacheStore)?
    /// A Boolean value that indicates whether identical GET requests (same URL and header fields) share a response through the
    /// ``cacheStore``. While one of them is in progress, the others wait for its response. If the request in progress fails or
    /// is canceled, the next one is sent. If its response can't be stored, all waiting requests are sent. The default is false,
    /// which sends each request immediately.
    public var coalescesRequests = false
    /// The cache policy of requests whose `URLRequest` doesn't specify one. The default follows the HTTP caching rules.
    public var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// The Foundation cache in which ``cacheStore`` stores responses, or nil if it stores them elsewhere.
    public var urlCache: URLCache? {
        get { (cacheStore as? URLCacheStore)?.cache }
        set { cacheStore = newValue.map(URLCacheStore.init) }
    }

    /// The version of HTTP. See ``ExchangeOptions/httpVersion``.
    public var httpVersion: ExchangeOptions.HTTPVersion {
        get { exchangeOptions.httpVersion }
        set { exchangeOptions.httpVersion = newValue }
    }
    /// The settings for connections to hosts: proxies, a Unix domain socket, or a specific interface.
    ///
    /// If the value is nil, which is the default, sessions on Linux with the default transport of the module `Afar` use the
    /// proxies of the environment (``ProxySettings/environment``). Other sessions use their transport's defaults. With a
    /// setting that the transport doesn't support, each request fails.
    public var network: NetworkSettings?

    /// Limits the total rates at which the session's requests send and receive bodies. The default is nil: no limit. See
    /// ``ExchangeOptions/bandwidthLimiter``.
    public var bandwidthLimiter: BandwidthLimiter? {
        get { exchangeOptions.bandwidthLimiter }
        set { exchangeOptions.bandwidthLimiter = newValue }
    }

    /// Decides to which addresses requests can connect. See ``ExchangeOptions/connectionPolicy``.
    public var connectionPolicy: (any ConnectionPolicy)? {
        get { exchangeOptions.connectionPolicy }
        set { exchangeOptions.connectionPolicy = newValue }
    }

    /// Looks up the addresses of hosts and proxies. See ``ExchangeOptions/resolver``.
    public var resolver: (any HostResolver)? {
        get { exchangeOptions.resolver }
        set { exchangeOptions.resolver = newValue }
    }

    /// The subclasses of `URLProtocol` that can handle requests. See ``ExchangeOptions/protocolClasses``.
    public var protocolClasses: [AnyClass]? {
        get { exchangeOptions.protocolClasses }
        set { exchangeOptions.protocolClasses = newValue }
    }
    /// The name of a background session. The default is nil.
    ///
    /// No transport continues after the process ends. If a name is set, each request fails before it is sent, with
    /// ``TransportError/Code-swift.struct/unsupportedByTransport``.
    public var identifier: String?

    /// The proxies of Foundation's configuration, or nil if it had none.
    var foundationProxies: FoundationProxies?

    /// Creates the default configuration.
    public init() {}

    /// The default configuration.
    public static var `default`: SessionConfiguration { SessionConfiguration() }

    /// Returns the template for the options of every exchange.
    ///
    /// - Throws: `AFError.createURLRequestFailed` if a default header can't be sent. `AFError.sessionTaskFailed` for a
    ///   background session, and for proxies or TLS settings that the transport would ignore.
    func exchangeOptions(for transport: any Transport) throws -> ExchangeOptions {
        try checkIdentifier(for: transport)
        try checkTLSSettings(for: transport)
        var options = exchangeOptions
        options.protocolClasses = foreignProtocolClasses
        if let network = try networkSettings(for: transport) { options.network = network }
        options.defaultFields = DefaultFields(try defaultFields(for: transport))
        return options
    }

    private func defaultFields(for transport: any Transport) throws -> HTTPFields {
        var fields = try HTTPFields(checking: headers)
        let codings = transport.capabilities.contentCodings
        if fields[.acceptEncoding] == HTTPHeader.defaultAcceptEncoding.value, !codings.isEmpty {
            fields[.acceptEncoding] = codings.joined(separator: ", ")
        }
        return fields
    }
}
