public import Foundation

/// The settings of a transport. They apply to all of its exchanges, because the exchanges share connections.
///
/// `HTTPTransport.Configuration` and `CurlTransport.Configuration` are aliases of this type.
public struct ConnectionConfiguration: Sendable {
    /// The maximum number of connections to one host (scheme, name and port). Further exchanges wait. The default is 6.
    public var maximumConnectionsPerHost = 6
    /// The maximum number of idle connections of each thread. The least recently used ones are closed first. The default is 64.
    ///
    /// libcurl also counts connections in use, so with `CurlTransport`, a limit below ``maximumConnectionsPerHost`` can close
    /// connections that are about to be reused.
    public var maximumIdleConnections = 64
    /// How long an idle connection is kept open, in seconds. If the value is 0 or less, each connection is closed after its
    /// exchange. If it is `.infinity`, the server decides. Many servers close idle connections after 5 to 75 seconds. The default
    /// is 90.
    ///
    /// `CurlTransport` rounds the time up to whole seconds, and closes the connection up to three seconds later.
    public var maximumIdleTime: TimeInterval = 90
    /// The number of idle connections to each host that stay open beyond ``maximumIdleTime``, until the server closes them. The default is
    /// 0. `CurlTransport` ignores this setting.
    ///
    /// A value above 0 keeps connections ready, such as those that `Session.preconnect(to:count:)` has opened. The limit
    /// ``maximumIdleConnections`` still applies.
    public var minimumIdleConnectionsPerHost = 0
    /// How long an HTTP/2 connection with requests can receive nothing before a PING frame is sent (RFC 9113, section 6.7), in seconds. If
    /// nothing arrives within the same time after the PING, the connection is closed, and its requests fail with
    /// ``TransportError/Code-swift.struct/connectionLost`` or are sent again. If the value is `.infinity`, no PING is sent. The default is
    /// 15. `CurlTransport` ignores this setting.
    public var pingInterval: TimeInterval = 15
    /// The number of threads that drive connections, from 1 to 64. All connections to one host belong to one thread. A thread can
    /// handle 20,000 small requests per second or more. Several threads help clients with several busy hosts.
    ///
    /// The default is one for every four processors, and at least one. This number ignores a container's limit on processor time.
    public var maximumThreads = max(1, ProcessInfo.processInfo.activeProcessorCount / 4)
    /// The maximum number of host names that are looked up at a time. Each lookup takes a thread. The number is divided among the
    /// threads that drive connections, and rounded up. The default is 16.
    ///
    /// A lookup that is no longer needed can't be stopped, but doesn't count toward this limit. A lookup that has taken a second doesn't
    /// count either. The maximum number of lookup threads is four times this limit. Names in one domain use at most half of these threads.
    public var maximumLookups = 16
    /// How long to wait for a connection to one address of a host before trying the next address concurrently, in seconds (RFC 8305,
    /// section 5). Values outside 0.01 to 2 are replaced by the nearest limit (section 8). The default is 0.25.
    ///
    /// `CurlTransport` waits this long before it tries the other address family. It tries the addresses of each family sequentially. An
    /// address that doesn't respond can take half of the remaining connect timeout.
    public var happyEyeballsDelay: TimeInterval = 0.25
    /// A file of PEM certificates to trust instead of the system's. The default is nil, which means the system's certificates.
    public var certificateBundle: URL?
    /// Whether the certificates of servers must follow RFC 5280 strictly (OpenSSL's `X509_V_FLAG_X509_STRICT`). Certificates of
    /// private authorities often violate this standard: for example, they lack a key identifier. The setting applies to evaluators
    /// too. The default is false.
    public var validatesCertificatesStrictly = false
    /// The ciphers for TLS 1.2 in OpenSSL's format, such as `"ECDHE+AESGCM:!RSA"`. The default is nil, which means OpenSSL's
    /// defaults. If OpenSSL can't parse the list, each request over https fails with
    /// ``TransportError/Code-swift.struct/secureConnectionFailed``.
    public var tlsCipherList: String?
    /// The cipher suites for TLS 1.3, such as `"TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"`. The default is nil, which
    /// means OpenSSL's defaults.
    public var tls13CipherSuites: String?
    /// A file to which the secrets of each TLS handshake are appended, for tools such as Wireshark. The default is nil, which means that no
    /// secrets are stored. Anyone who can read the file can decrypt all traffic, so use this setting for debugging only. The file is
    /// created with mode 0600. If it can't be opened, requests over https fail.
    public var tlsKeyLogFile: URL?

    /// Creates the default configuration.
    public init() {}

    /// The configuration of each thread.
    package var forOneThread: Self {
        var copy = self
        copy.maximumLookups = LoopGroup.share(of: maximumLookups, among: maximumThreads)
        return copy
    }

    /// The delay of ``happyEyeballsDelay`` in milliseconds, within its limits.
    package var happyEyeballsMilliseconds: Int {
        // NaN is replaced by the upper limit.
        happyEyeballsDelay < 2 ? Int((max(0.01, happyEyeballsDelay) * 1_000).rounded()) : 2_000
    }

    package func makeTLSSettings() -> TLSSettings {
        TLSSettings(
            authorities: CertificateAuthorities(
                file: certificateBundle ?? CertificateAuthorities.systemFile, areStrict: validatesCertificatesStrictly),
            cipherList: tlsCipherList, tls13CipherSuites: tls13CipherSuites, keyLogFile: tlsKeyLogFile)
    }
}
