public import AfarCore

extension ConnectionConfiguration {
    /// Creates a configuration from a session's settings for connections and TLS. The limit of idle connections is 64, or the
    /// limit of connections per host if that is higher.
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
