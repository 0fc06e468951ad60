#if canImport(AfarCurl)
    public import AfarCore
    public import AfarCurl
    public import AfarHTTP

    extension HTTPTransport.Configuration: SessionConfigured {
        /// Takes the settings of a session for connections and TLS. At least 64 idle connections are kept, and as many as one host may have.
        public init(_ configuration: SessionConfiguration) {
            self.init()
            take(configuration)
        }
    }

    extension CurlTransport.Configuration: SessionConfigured {
        /// Takes the settings of a session for connections and TLS. At least 64 idle connections are kept, and as many as one host may have.
        public init(_ configuration: SessionConfiguration) {
            self.init()
            take(configuration)
        }
    }

    /// The settings that a transport's configuration has in common with a session's.
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
