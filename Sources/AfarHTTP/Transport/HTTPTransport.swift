import AfarHTTP1
public import AfarTransport
import AfarTrust
public import Foundation
import HTTPTypes

/// A transport with Afar's own HTTP/1.1 engine (RFC 9112) for Linux. It uses OpenSSL for TLS.
///
/// Connections belong to their transport. Sessions that share a transport share its connections. All methods can be called from any
/// thread.
///
/// The server can close a reused connection before any byte of the response has arrived. An idempotent request is then sent again
/// over a new connection (RFC 9112, section 9.3.1; RFC 9110, section 9.2.2). ``TransactionMetrics/resendCount`` counts how often this
/// happened. Any other request is sent again only if none of its bytes were sent. Otherwise, it fails with
/// ``TransportError/Code-swift.struct/connectionLost``.
public final class HTTPTransport: CallbackTransport {
    /// Settings that apply to all exchanges of a transport, because the exchanges share its connections.
    public struct Configuration: Sendable {
        /// The maximum number of connections to one host (scheme, name and port). Further exchanges wait. The default is 6.
        public var maximumConnectionsPerHost = 6
        /// The maximum number of idle connections of each thread. The least recently used ones are closed first. The default is 64.
        public var maximumIdleConnections = 64
        /// How long an idle connection is kept open, in seconds. If the value is 0 or less, each connection is closed after its
        /// exchange. If it is `.infinity`, the server decides. The default is 90.
        public var maximumIdleTime: TimeInterval = 90
        /// The number of threads that drive connections, from 1 to 64. All connections to one host belong to one thread. The default
        /// is one for every four processors, and at least one.
        public var maximumThreads = max(1, ProcessInfo.processInfo.activeProcessorCount / 4)
        /// The maximum number of host names that are looked up at a time. Each lookup takes a thread. The number is divided among
        /// the threads that drive connections, and rounded up. The default is 16.
        public var maximumLookups = 16
        /// A file of PEM certificates to trust instead of the system's. The default is nil, which means the system's certificates.
        public var certificateBundle: URL?
        /// Whether the certificates of servers must follow RFC 5280 strictly (OpenSSL's `X509_V_FLAG_X509_STRICT`). Certificates
        /// of private authorities often violate this standard: for example, they lack a key identifier. The setting applies to
        /// evaluators too. The default is false.
        public var validatesCertificatesStrictly = false
        /// The ciphers for TLS 1.2 in OpenSSL's format, such as `"ECDHE+AESGCM:!RSA"`. The default is nil, which means OpenSSL's
        /// defaults. If OpenSSL can't parse the list, each request over https fails with
        /// ``TransportError/Code-swift.struct/secureConnectionFailed``.
        public var tlsCipherList: String?
        /// The cipher suites for TLS 1.3, such as `"TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"`. The default is nil, which
        /// means OpenSSL's defaults.
        public var tls13CipherSuites: String?
        /// A file to which the secrets of each TLS handshake are appended, for tools such as Wireshark. The default is nil, which
        /// means that no secrets are stored. Anyone who can read the file can decrypt all traffic, so use it for debugging only. It
        /// is created with mode 0600. If it can't be opened, requests over https fail.
        public var tlsKeyLogFile: URL?

        /// Creates the default configuration.
        public init() {}

        fileprivate var forOneThread: Self {
            var copy = self
            copy.maximumLookups = LoopGroup.share(of: maximumLookups, among: maximumThreads)
            return copy
        }
    }

    private let tls: TLSContext
    private let engines: LoopGroup
    /// The features of this transport.
    public let capabilities = TransportCapabilities(
        name: "http",
        features: [
            .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
            .connectTimeout, .informationalResponses, .trailers, .anyMethod, .minimumTransferRate, .minimumTLSVersion,
            .serverTrust, .clientIdentity, .networkSettings, .connections,
        ], contentCodings: ContentDecoder.codings)

    /// Creates a transport. Its threads run from the first exchange that needs them until the transport is released.
    public init(configuration: Configuration = Configuration()) {
        let tls = TLSContext(
            TLSSettings(
                authorities: CertificateAuthorities(
                    file: configuration.certificateBundle ?? CertificateAuthorities.systemFile,
                    areStrict: configuration.validatesCertificatesStrictly),
                cipherList: configuration.tlsCipherList, tls13CipherSuites: configuration.tls13CipherSuites,
                keyLogFile: configuration.tlsKeyLogFile))
        self.tls = tls
        engines = LoopGroup(count: configuration.maximumThreads) {
            try HTTPEngine(configuration: configuration.forOneThread, tls: tls)
        }
    }

    /// Prepares an exchange without sending anything.
    ///
    /// - Throws: A ``TransportError``, for example if the exchange requires a feature that this transport doesn't have.
    public func prepare(_ hop: Hop) throws -> any PreparedExchange {
        try capabilities.check(hop.exchange)
        guard hop.exchange.request.scheme == "http" || hop.exchange.request.scheme == "https" else {
            let scheme = hop.exchange.request.scheme ?? ""
            throw hop.failure(.unsupportedURL, "the scheme \"\(scheme)\" is neither http nor https")
        }
        let key = try key(for: hop)
        if key.security != nil || key.route?.proxy?.kind == .https { try prepareTLS(for: key, url: hop.exchange.url) }
        guard let engine = try engines.loop(forHost: key.host, url: hop.exchange.url) as? HTTPEngine else {
            throw hop.failure(.outOfResources, "the transport could not start")
        }
        let exchange = try HTTPExchange(hop, key, engine: engine)
        switch hop.exchange.delivery {
        case .collect, .file: break
        case .stream, .connection: exchange.owner = self
        }
        return exchange
    }

    private func key(for hop: Hop) throws -> ConnectionKey {
        var purpose = ConnectionKey.Purpose.requests
        if case .connection = hop.exchange.delivery {
            guard hop.exchange.body.length == 0 else {
                throw hop.failure(.invalidUse, "a request for a connection can't have a body")
            }
            purpose = hop.exchange.request.method == .connect ? .otherProtocol : .upgrade
        }
        do {
            return try ConnectionKey(hop.exchange.request, hop.exchange.options, for: purpose)
        } catch let error as HTTP1Error {
            throw hop.failure(error.code, error.message)
        } catch {
            throw hop.failure(.invalidUse, "\(error)")
        }
    }

    private func prepareTLS(for key: ConnectionKey, url: String) throws {
        try tls.settings.check(url: url)
        do throws(Fault) {
            let isEvaluated = key.security?.settings?.evaluation != nil && key.route?.proxy?.kind != .https
            try tls.prepare(isEvaluated: isEvaluated)
        } catch {
            throw TransportError(error.code, phase: .queued, url: url, message: error.message)
        }
    }

    /// Closes connections that no exchange uses, and discards the cached addresses of hosts and the TLS sessions. Returns immediately.
    public func closeIdleConnections() { engines.closeIdleConnections() }

    /// The current connections, by host. Each thread reports its own connections, so getting the value takes a moment, but
    /// doesn't access the network.
    public var connectionStatistics: ConnectionStatistics? { get async { await engines.connectionStatistics } }

    /// Runs tasks on the thread that drives the connections.
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(transport.taskExecutor) {
    ///     try await session.request("http://localhost/").serializingData().value
    /// }
    /// ```
    ///
    /// Requests from these tasks, and their responses, don't switch threads. While a task computes, the connections of this
    /// thread make no progress, so use the executor for tasks that mostly wait. **Never block in a task on this executor**: a
    /// semaphore that waits for a request of this transport waits forever.
    ///
    /// Set ``Configuration/maximumThreads`` to 1. If there are several threads, the tasks run on the first thread, and this
    /// thread serves only some of the hosts. The executor retains this transport.
    ///
    /// - Throws: A ``TransportError`` with the code ``TransportError/Code-swift.struct/outOfResources`` if there is no thread.
    public var taskExecutor: any TaskExecutor { get throws { try engines.taskExecutor(of: self) } }
}
