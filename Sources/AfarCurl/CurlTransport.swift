public import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// The transport on libcurl: HTTP/1.1 and HTTP/2 over TCP and TLS, with kept connections, driven by one thread for each four processors,
/// one at least.
///
/// Connections belong to their transport; sessions that share a transport share them. All methods may be called
/// from any thread. The operating system's libcurl is used: TLS and name look-up are what it was built with.
///
/// libcurl sends a request again by itself when a kept connection turns out to be dead before a byte of the answer came
/// (RFC 9112, section 9.3.1). Afar lets it do so with idempotent methods only (RFC 9110, section 9.2.2), and counts it in
/// ``TransactionMetrics/resendCount``; a POST fails with ``TransportError/Code-swift.struct/connectionLost``.
public final class CurlTransport: CallbackTransport {
    private let tls: TLSSettings
    private let loops: LoopGroup
    /// What this transport can do.
    public let capabilities: TransportCapabilities

    /// Makes a transport. Its threads run from the first exchange that needs them until it is released.
    ///
    /// When threads or descriptors have run out, an exchange fails with
    /// ``TransportError/Code-swift.struct/outOfResources``, and the next one tries again.
    public init(configuration: Configuration = Configuration()) {
        let library = CurlLibrary.shared
        var features: TransportCapabilities.Features = [
            .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
            .connectTimeout, .minimumTLSVersion, .informationalResponses, .trailers, .anyMethod, .minimumTransferRate,
            .networkSettings,
        ]
        if library.authenticatesConnections { features.insert(.connectionAuthentication) }
        if library.speaksHTTP2 { features.insert(.http2) }
        if library.speaksHTTP3 { features.insert(.http3) }
        if library.isOnOpenSSL { features.formUnion([.serverTrust, .clientIdentity]) }
        capabilities = TransportCapabilities(name: "curl", features: features, contentCodings: ContentDecoder.codings)
        let tls = TLSSettings(configuration)
        self.tls = tls
        loops = LoopGroup(count: configuration.maximumThreads) {
            try CurlLoop(configuration: configuration.forOneThread, tls: tls)
        }
    }

    /// Prepares an exchange without sending anything.
    ///
    /// - Throws: A ``TransportError``, if the exchange requires a feature that this transport doesn't have, for example.
    public func prepare(_ hop: Hop) throws -> any PreparedExchange {
        try capabilities.check(hop.exchange)
        if hop.exchange.request.scheme == "https" { try tls.check(url: hop.exchange.url) }
        let plan = try RequestPlan(hop)
        guard let loop = try loops.loop(forHost: plan.host, url: hop.exchange.url) as? CurlLoop else {
            throw hop.failure(.outOfResources, "the transport could not start")
        }
        let transfer = Transfer(hop, plan, loop: loop)
        if case .stream = hop.exchange.delivery { transfer.streamOwner = self }
        return transfer
    }

    /// Closes connections that no exchange uses, and forgets addresses of hosts and TLS sessions. Returns at once.
    public func closeIdleConnections() { loops.closeIdleConnections() }

    /// The connections at this moment, by host. Each thread is queried, so this takes a moment, but no network.
    public var connectionStatistics: ConnectionStatistics? { get async { await loops.connectionStatistics } }

    /// Lets tasks run on the thread that drives the connections.
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(transport.taskExecutor) {
    ///     try await session.request("https://example.com/").serializingData().value
    /// }
    /// ```
    ///
    /// A request from there, and its answer, change no thread: one at a time take about half the processor time. But while
    /// such a task computes, no connection moves; validation and serialization of the responses that it awaits are part of
    /// it. So this is for tasks that mostly wait. **Never block there**: who waits on a semaphore for a request of this
    /// transport waits for ever.
    ///
    /// Of several threads it is the first, which has only some of the hosts: set ``Configuration/maximumThreads`` to 1. The
    /// executor retains the transport.
    ///
    /// - Throws: A ``TransportError`` of code ``TransportError/Code-swift.struct/outOfResources`` when there is no thread.
    public var taskExecutor: any TaskExecutor { get throws { try loops.taskExecutor(of: self) } }
}
