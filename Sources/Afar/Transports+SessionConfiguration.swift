#if canImport(AfarCurl)
    public import AfarCore
    public import AfarCurl
    public import AfarHTTP

    extension HTTPTransport.Configuration {
        /// Takes the settings of a session for connections and TLS. At least 64 idle connections are kept, and as many as one host may have.
        public init(_ configuration: SessionConfiguration) {
            self.init()
            maximumConnectionsPerHost = configuration.httpMaximumConnectionsPerHost
            certificateBundle = configuration.certificateBundle
            validatesCertificatesStrictly = configuration.validatesCertificatesStrictly
            tlsCipherList = configuration.tlsCipherList
            tls13CipherSuites = configuration.tls13CipherSuites
            tlsKeyLogFile = configuration.tlsKeyLogFile
            maximumIdleConnections = max(maximumIdleConnections, maximumConnectionsPerHost)
        }
    }

    extension CurlTransport.Configuration {
        /// Takes the settings of a session for connections and TLS. At least 64 idle connections are kept, and as many as one host may have.
        public init(_ configuration: SessionConfiguration) {
            self.init()
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
