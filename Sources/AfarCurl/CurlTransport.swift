public import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// A transport that uses the operating system's libcurl: HTTP/1.1 and HTTP/2 over TCP and TLS, with persistent connections.
///
/// By default, it runs one thread for every four processors, and at least one. Connections belong to their transport. Sessions that
/// share a transport share its connections. All methods can be called from any thread. TLS and name lookup depend on how libcurl
/// was built.
///
/// If the server closes a reused connection before a byte of the response has arrived, libcurl sends the request again (RFC 9112,
/// section 9.3.1). Afar permits this only for idempotent methods (RFC 9110, section 9.2.2). ``TransactionMetrics/resendCount``
/// counts how often this happened. A POST request fails with ``TransportError/Code-swift.struct/connectionLost``.
public final class CurlTransport: CallbackTransport {
    /// The settings for all exchanges of the transport.
    public typealias Configuration = ConnectionConfiguration

    private let tls: TLSSettings
    private let loops: LoopGroup
    /// The features of this transport.
    public let capabilities: TransportCapabilities

    /// Creates a transport. Its threads run from the first exchange that needs them until the transport is released.
    ///
    /// If no threads or descriptors are available, an exchange fails with ``TransportError/Code-swift.struct/outOfResources``, and
    /// the next exchange tries again.
    public init(configuration: Configuration = Configuration()) {
        let library = CurlLibrary.shared
        var features: TransportCapabilities.Features = [
            .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
            .connectTimeout, .minimumTLSVersion, .informationalResponses, .trailers, .anyMethod, .minimumTransferRate,
            .networkSettings, .connectionPolicy, .resolver,
        ]
        if library.authenticatesConnections { features.insert(.connectionAuthentication) }
        if library.supportsHTTP2 { features.insert(.http2) }
        if library.supportsHTTP3 { features.insert(.http3) }
        if library.isOnOpenSSL { features.formUnion([.serverTrust, .clientIdentity]) }
        capabilities = TransportCapabilities(name: "curl", features: features, contentCodings: ContentDecoder.codings)
        let tls = configuration.makeTLSSettings()
        self.tls = tls
        loops = LoopGroup(count: configuration.maximumThreads) {
            try CurlLoop(configuration: configuration.forOneThread, tls: tls)
        }
    }

    /// Prepares an exchange without sending anything.
    ///
    /// - Throws: A ``TransportError``, for example if the exchange requires a feature that this transport doesn't have.
    public func prepare(_ hop: Hop) throws -> any PreparedExchange {
        try capabilities.check(hop.exchange)
        if hop.exchange.request.scheme == "https" {
            do throws(Fault) { try tls.check() } catch { throw hop.failure(error) }
        }
        let plan = try TransferPlan(hop)
        guard let loop = try loops.loop(forHost: plan.host, url: hop.exchange.url) as? CurlLoop else {
            throw hop.failure(.outOfResources, "the transport could not start")
        }
        let transfer = Transfer(hop, plan, loop: loop)
        if case .stream = hop.exchange.delivery { transfer.owner = self }
        return transfer
    }

    /// Closes connections that no exchange uses, and discards the cached addresses of hosts and the TLS sessions. Returns
    /// immediately.
    public func closeIdleConnections() { loops.closeIdleConnections() }

    /// The current connections, by host. Each thread reports its own connections, so getting the value takes a moment, but
    /// doesn't access the network.
    public var connectionStatistics: ConnectionStatistics? { get async { await loops.connectionStatistics } }

    /// Runs tasks on the thread that drives the connections, so the tasks' requests and responses don't switch threads.
    ///
    /// **Never block in a task on this executor**: a semaphore that waits for a request of this transport waits forever. The
    /// tasks run on the first thread, so set ``ConnectionConfiguration/maximumThreads`` to 1. Then all connections are on this
    /// thread too. The executor retains the transport.
    ///
    /// - Throws: A ``TransportError`` with the code ``TransportError/Code-swift.struct/outOfResources`` if the thread can't be started.
    public var taskExecutor: any TaskExecutor { get throws { try loops.taskExecutor(of: self) } }
}
