#if canImport(AfarCurl)
    public import AfarCore
    public import AfarCurl

    extension CurlTransport.Configuration {
        /// Takes over what a session's configuration says about connections and their TLS. As many are kept as one host may have, 64
        /// at least.
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
