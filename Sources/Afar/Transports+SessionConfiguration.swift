#if canImport(AfarCurl)
    public import AfarCore
    public import AfarCurl
    public import AfarHTTP

    extension HTTPTransport.Configuration: SessionConfigured {
        /// Creates a configuration from a session's settings for connections and TLS. The limit of idle connections is 64, or the
        /// limit of connections per host if that is higher.
        public init(_ configuration: SessionConfiguration) {
            self.init()
            take(configuration)
        }
    }

    extension CurlTransport.Configuration: SessionConfigured {
        /// Creates a configuration from a session's settings for connections and TLS. The limit of idle connections is 64, or the
        /// limit of connections per host if that is higher.
        public init(_ configuration: SessionConfiguration) {
            self.init()
            take(configuration)
        }
    }

    /// The settings that the configurations of transports and sessions have in common.
    private protocol SessionConfigured {
        var maximumConnectionsPerHost: Int { get set }
        var maximumIdleConnections: Int { get set }
        var certificateBundle: URL? { get set }
        var validatesCertificatesStrictly: Bool { get set }
        var tlsCipherList: String? { get set }
        var tls13CipherSuites: String? { get set }
        var tlsKeyLogFile: URL? { get set }
    }

    extension SessionConfigured {
        mutating func take(_ configuration: SessionConfiguration) {
            maximumConnectionsPerHost = configuration.httpMaximumConnectionsPerHost
            certificateBundle = configuration.certificateBundle
            validatesCertificatesStrictly = configuration.validatesCertificatesStrictly
            tlsCipherList = configuration.tlsCipherList
            tls13CipherSuites = configuration.tls13CipherSuites
            tlsKeyLogFile = configuration.tlsKeyLogFile
            maximumIdleConnections = max(maximumIdleConnections, maximumConnectionsPerHost)
        }
    }
#endif
