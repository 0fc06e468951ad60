public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// How a session behaves. Properties bear the names of `URLSessionConfiguration` where they mean the same.
public struct SessionConfiguration: Sendable {
    /// Headers sent with every request that has none of the same name. The default is ``HTTPHeaders/default``; as long
    /// as `Accept-Encoding` is left at its default, the session sends what its transport really decodes. A header that
    /// cannot be sent fails every request, as it would in the request itself.
    public var headers = HTTPHeaders.default
    /// How long nothing may arrive or leave, in seconds. The default is 60. A `URLRequest` whose `timeoutInterval` is
    /// not 60 has its own.
    public var timeoutIntervalForRequest: TimeInterval = 60
    /// The rate, in bytes a second over the length of ``timeoutIntervalForRequest``, up to which a server counts as silent:
    /// one that drips a byte a second would else hold a request for as long as ``timeoutIntervalForResource``. Stream
    /// requests are exempt, as events may be rare. The default is 1; 0 means that any byte counts. It has an effect where
    /// the transport's capabilities have it.
    public var minimumTransferRate: Double = 1
    /// How long one attempt of a request may take in all, in seconds. The default is seven days.
    public var timeoutIntervalForResource: TimeInterval = 7 * 24 * 60 * 60
    /// How long finding the host, connecting and securing the connection may take together, in seconds. The default is
    /// 30. It has an effect where the transport's capabilities have it.
    public var timeoutIntervalForConnect: TimeInterval = 30
    /// Whether a request waits as long as there is no network, instead of failing. The default is false.
    ///
    /// It waits until the session's ``Session/connectivity`` says that there is one, until it is cancelled, or until
    /// ``timeoutIntervalForResource`` has passed; ``timeoutIntervalForRequest`` runs only once it is sent. A request that
    /// failed because there was no way to the host, or no name server that knew its address, waits too, if there is no
    /// network by then or within the next 0.3 seconds. Requests to this machine itself never wait; all others do, also
    /// to hosts nearby that might be reached without what the provider looks for. Without a provider of connectivity
    /// this has no effect.
    public var waitsForConnectivity = false
    /// The connections open at once to one host. The default is 6. A transport takes it when it is made.
    public var httpMaximumConnectionsPerHost = 6
    /// The lowest TLS version accepted. The default is 1.2, which over `URLSessionTransport` on Linux the system's OpenSSL has
    /// to ensure; 1.3 fails each request there.
    public var tlsMinimumSupportedProtocolVersion = ExchangeOptions.TLSVersion.v12
    /// Whether a body without a length is complete when the server closes the TCP connection without a TLS alert (`close_notify`,
    /// RFC 9112, section 9.8). Some servers close so, but anyone on the network can cut off a body like that.
    ///
    /// The default is false: over libcurl, the request fails with ``TransportError/Code-swift.struct/bodyIncomplete``. Bodies that
    /// have a `Content-Length` or are chunked need no such alert.
    public var acceptsBodiesWithoutTLSCloseNotify = false
    /// A file of PEM certificates of the authorities to trust, instead of the system's. The default is nil. A transport takes
    /// it when it is made, as it does the next four: give a transport of your own its configuration by
    /// `CurlTransport(configuration: .init(configuration))`. Over one that cannot do that, each request fails.
    public var certificateBundle: URL?
    /// Whether the certificates of servers must follow RFC 5280 to the letter (OpenSSL's `X509_V_FLAG_X509_STRICT`); those of
    /// private authorities often lack a key identifier, for example. Evaluators validate by it, too. The default is false. A
    /// transport takes it when it is made.
    public var validatesCertificatesStrictly = false
    /// The ciphers for TLS 1.2, as a list in OpenSSL's form; nil, which is the default, for OpenSSL's own. A transport takes
    /// it when it is made.
    public var tlsCipherList: String?
    /// The ciphers for TLS 1.3, as a list in OpenSSL's form; nil, which is the default, for OpenSSL's own. A transport takes it
    /// when it is made.
    public var tls13CipherSuites: String?
    /// A file to which the secrets of each TLS handshake are added, for debugging with Wireshark; nil, which is the default,
    /// for none. Whoever has it can read all that was sent. A transport takes it when it is made.
    public var tlsKeyLogFile: URL?
    /// What the client shows when the server that a request was made for asks who it is; never to another that a redirect
    /// leads to. The default is nil. A transport that cannot do that fails requests over https.
    public var clientIdentity: ClientIdentity?
    /// What the client shows to certain hosts (names or addresses, without port), redirects or not, instead of
    /// ``clientIdentity``. The default is none.
    public var clientIdentities: [String: ClientIdentity] = [:]
    /// The most decoded bytes that a response in memory may have; more fails the request. The default is 256 MiB, nil
    /// means no limit.
    public var maximumResponseBodySize: Int64? = 256 * 1024 * 1024
    /// Whether compressed bodies are decoded (`Content-Encoding`). The default is true.
    ///
    /// If it is false, bodies are delivered as they arrived. Over libcurl, `Accept-Encoding` is still sent: set it to `identity` for
    /// a body without a content coding. A body with a coding that isn't known, or with a part of a coded body (status 206), is
    /// never decoded.
    ///
    /// Over `URLSessionTransport`, Foundation always decodes, and handles unknown codings in its own way. If this is false, requests
    /// without an `Accept-Encoding` of their own send `identity`, and a coded response fails.
    public var decodesContent = true
    /// When a compressed body has grown so much by being decoded that its request fails, with
    /// ``TransportError/Code-swift.struct/responseTooLarge``: whether it is in memory, in a file or a stream. The default is
    /// more than 1 GiB that is more than 1,000 times what was received; nil means never.
    public var decompressionLimit: DecompressionLimit? = DecompressionLimit()
    /// The most bytes that a response's head may have. The default is 256 KiB.
    public var maximumResponseHeadSize = 256 * 1024

    /// How many redirects are followed in one attempt; one more fails the request. The default is 20.
    public var maximumRedirects = 20
    /// Whether a redirect may lead from https to http. The default is false: such a redirect fails the request.
    public var allowsInsecureRedirects = false
    /// The names of further sensitive headers, which their names do not show to be so: `X-Customer`, say. Like
    /// `Authorization`, `Cookie`, `X-Api-Key` and all others whose names show a credential, they are redacted in logs,
    /// and do not follow a redirect to another scheme, host or port. The cache keeps the responses to requests with other
    /// values apart, unless they are `public`. Case does not matter.
    public var sensitiveHeaders: Set<String> = []

    /// Gives the credentials with which challenges (401) are answered for which a request has none of its own. The default is
    /// nil; ``URLCredentialStorageProvider`` takes them from Foundation's storage.
    public var credentialProvider: (any CredentialProvider)?

    /// Keeps the session's cookies; nil when it keeps and sends none. The default is a ``MemoryCookieStore`` of the configuration's own:
    /// sessions that are made with copies of one configuration share it, others do not.
    ///
    /// ``FileCookieStore`` keeps them between runs of a program. A request that has a `Cookie` header is sent as it is, without
    /// those of the store.
    public var cookieStore: (any CookieStore)? = MemoryCookieStore()
    /// Whether requests carry the cookies of the ``cookieStore``. The default is true. Cookies are stored all the same, see
    /// ``httpCookieAcceptPolicy``.
    public var httpShouldSetCookies = true
    /// Whose cookies are stored. The default is `.onlyFromMainDocumentDomain`: when a request has a `mainDocumentURL`, those from the
    /// site of that only, and all when it has none.
    public var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    /// Knows the names that no cookie is for, `co.uk` say. The default is nil: `Afar`'s own sessions take the system's list, others
    /// refuse names without a dot only.
    public var publicSuffixList: (any PublicSuffixList)?
    /// Remembers the hosts that want to be reached by https only (HSTS, RFC 6797), so that requests to them by http are sent by
    /// https. The default is nil: what servers want is not heeded.
    public var hstsStore: (any HSTSStore)?
    /// Where responses are kept, so that later requests are answered with them (RFC 9111). The default is nil: nothing is
    /// kept. It is a private cache, for what one user may see; requests with different `Authorization` fields get different
    /// responses, unless the server calls them public.
    public var cacheStore: (any CacheStore)?
    /// Whether a GET waits while another like it, to the same URL with the same header fields, is on its way, and is answered with
    /// what that one brings for ``cacheStore``. When that one fails or is cancelled, the next is sent; when its response may not be
    /// kept, all are. The default is false: each is sent at once.
    public var coalescesRequests = false
    /// How requests use the cache whose `URLRequest` says nothing else. The default is that of HTTP's rules.
    public var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Foundation's cache, where that is what ``cacheStore`` keeps responses in; nil otherwise.
    public var urlCache: URLCache? {
        get { (cacheStore as? URLCacheStore)?.cache }
        set { cacheStore = newValue.map(URLCacheStore.init) }
    }

    /// The version of HTTP. The default is ``ExchangeOptions/HTTPVersion/automatic``: what the transport does best. What it
    /// cannot do fails each request.
    public var httpVersion = ExchangeOptions.HTTPVersion.automatic
    /// How requests reach their hosts: through proxies, over a Unix socket, from an interface. The default is nil: `Afar`'s own
    /// sessions on libcurl take the proxies of the environment (``ProxySettings/environment``), others leave it to their
    /// transport. A transport that cannot do what is set here fails each request.
    public var network: NetworkSettings?

    /// The subclasses of `URLProtocol` that may answer requests. The default is nil.
    ///
    /// Only `URLSessionTransport` hands requests to them. Over any other transport, classes other than Foundation's own fail
    /// each request before it is sent, with ``TransportError/Code-swift.struct/unsupportedByTransport``; to answer requests
    /// without a server there is `MockTransport`.
    public var protocolClasses: [AnyClass]?
    /// The name of a background session. The default is nil.
    ///
    /// No transport goes on without the process: with a name, each request fails before it is sent, with
    /// ``TransportError/Code-swift.struct/unsupportedByTransport``.
    public var identifier: String?

    /// The proxies of Foundation's configuration; nil when it had none.
    var foundationProxies: FoundationProxies?

    /// Makes the default configuration.
    public init() {}

    /// The default configuration.
    public static var `default`: SessionConfiguration { SessionConfiguration() }

    /// The template for the options of every exchange.
    ///
    /// - Throws: `AFError.urlRequestValidationFailed` when a default header cannot be sent, `AFError.sessionTaskFailed` for a
    ///   background session, and for proxies that the transport would go around.
    func exchangeOptions(for transport: any Transport) throws -> ExchangeOptions {
        try checkIdentifier(for: transport)
        try checkTLSSettings(for: transport)
        var options = ExchangeOptions()
        options.protocolClasses = foreignProtocolClasses
        options.httpVersion = httpVersion
        if let network = try networkSettings(for: transport) { options.network = network }
        options.idleTimeout = timeoutIntervalForRequest
        options.minimumTransferRate = minimumTransferRate
        options.totalTimeout = timeoutIntervalForResource
        options.connectTimeout = timeoutIntervalForConnect
        options.minimumTLSVersion = tlsMinimumSupportedProtocolVersion
        options.decodesContent = decodesContent
        options.acceptsBodiesWithoutTLSCloseNotify = acceptsBodiesWithoutTLSCloseNotify
        options.decompressionLimit = decompressionLimit
        options.maximumHeadBytes = maximumResponseHeadSize
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
