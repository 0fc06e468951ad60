import AfarHTTP1
public import AfarTransport
import Foundation
import HTTPTypes

/// A transport with Afar's own engine for HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113) on Linux. It uses OpenSSL for TLS, and nghttp2 for
/// the frames of HTTP/2. Without the package trait HTTP2, it supports only HTTP/1.1.
///
/// Connections belong to their transport. Sessions that share a transport share its connections. All methods can be called from any
/// thread.
///
/// The server can close a reused connection before any byte of the response has arrived. An idempotent request is then sent again
/// over a new connection (RFC 9112, section 9.3.1; RFC 9110, section 9.2.2). ``TransactionMetrics/resendCount`` counts how often this
/// happened. Any other request is sent again only if none of its bytes were sent. Otherwise, it fails with
/// ``TransportError/Code-swift.struct/connectionLost``. Over HTTP/2, any request that the server reports as unprocessed is sent again (RFC
/// 9113, section 8.7).
public final class HTTPTransport: CallbackTransport {
    /// The settings for all exchanges of the transport.
    public typealias Configuration = ConnectionConfiguration

    private let tls: TLSContext
    private let engines: LoopGroup
    /// The features of this transport.
    public let capabilities = TransportCapabilities(
        name: "http",
        features: [
            .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
            .connectTimeout, .informationalResponses, .trailers, .anyMethod, .minimumTransferRate, .minimumTLSVersion,
            .serverTrust, .clientIdentity, .networkSettings, .connections, .duplex, .requestTrailers,
            .preconnections, .connectionPolicy, .resolver,
            HTTP2Connection.features,
        ], contentCodings: ContentDecoder.codings)

    /// Creates a transport. Its threads run from the first exchange that needs them until the transport is released.
    public init(configuration: Configuration = Configuration()) {
        let tls = TLSContext(configuration.makeTLSSettings())
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
        if case .connection = hop.exchange.delivery,
            let exchange = try WebSocketExchange.prepare(hop, { try self.prepareExchange($0) })
        {
            return exchange
        }
        return try prepareExchange(hop)
    }

    private func prepareExchange(_ hop: Hop) throws -> HTTPExchange {
        guard hop.exchange.request.scheme == "http" || hop.exchange.request.scheme == "https" else {
            let scheme = hop.exchange.request.scheme ?? ""
            throw hop.failure(.unsupportedURL, "the scheme \"\(scheme)\" is neither http nor https")
        }
        let key = try key(for: hop)
        if key.security != nil || key.route?.proxy?.kind == .https {
            let isEvaluated = key.security?.settings?.evaluation != nil && key.route?.proxy?.kind != .https
            do throws(Fault) { try tls.prepare(isEvaluated: isEvaluated) } catch { throw hop.failure(error) }
        }
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
            return try ConnectionKey(hop.exchange, for: purpose)
        } catch let fault as Fault {
            throw hop.failure(fault)
        } catch {
            throw hop.failure(.invalidUse, "\(error)")
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
    /// Set ``ConnectionConfiguration/maximumThreads`` to 1. If there are several threads, the tasks run on the first thread, and this
    /// thread serves only some of the hosts. The executor retains this transport.
    ///
    /// - Throws: A ``TransportError`` with the code ``TransportError/Code-swift.struct/outOfResources`` if the thread can't be started.
    public var taskExecutor: any TaskExecutor { get throws { try engines.taskExecutor(of: self) } }
}
