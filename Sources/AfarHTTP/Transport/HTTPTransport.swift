public import AfarTransport
public import Foundation
import HTTPTypes

/// A transport with an HTTP/1.1 engine of its own (RFC 9112) for Linux. So far, it sends requests without TLS and without proxies only.
///
/// Connections belong to their transport. Sessions that share a transport share its connections. All methods can be called from any
/// thread.
///
/// If a kept connection turns out to be closed before a byte of the response has arrived, an idempotent request is sent again over a
/// new connection (RFC 9112, section 9.3.1; RFC 9110, section 9.2.2). ``TransactionMetrics/resendCount`` counts that. Other requests
/// fail with ``TransportError/Code-swift.struct/connectionLost``, unless nothing was sent.
public final class HTTPTransport: CallbackTransport {
    /// Settings for all exchanges of a transport, because they share its connections.
    public struct Configuration: Sendable {
        /// The maximum number of connections to one host (scheme, name and port). Further exchanges wait. The default is 6.
        public var maximumConnectionsPerHost = 6
        /// The maximum number of idle connections of each thread. The least recently used ones are closed first. The default is 64.
        public var maximumIdleConnections = 64
        /// How long an idle connection is kept open, in seconds; 0 or less closes each connection after its exchange, and `.infinity`
        /// leaves it to the server. The default is 90.
        public var maximumIdleTime: TimeInterval = 90
        /// The number of threads that drive connections, from 1 to 64. All connections to one host belong to one thread. The default
        /// is one for each four processors, and at least one.
        public var maximumThreads = max(1, ProcessInfo.processInfo.activeProcessorCount / 4)
        /// The maximum number of host names that are looked up at a time. Each look-up takes a thread. The number is divided among
        /// the threads that drive connections, and rounded up. The default is 16.
        public var maximumLookups = 16

        /// Creates the default configuration.
        public init() {}

        fileprivate var threadCount: Int { min(max(1, maximumThreads), 64) }

        fileprivate var forOneThread: Self {
            var copy = self
            copy.maximumLookups = 1 + (max(1, maximumLookups) - 1) / threadCount
            return copy
        }
    }

    private let configuration: Configuration
    /// Each is nil until its first exchange.
    private let engines: Locked<[HTTPEngine?]>
    /// The features of this transport.
    public let capabilities = TransportCapabilities(
        name: "http",
        features: [
            .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
            .connectTimeout, .informationalResponses, .trailers, .anyMethod, .minimumTransferRate,
        ], contentCodings: ContentDecoder.codings)

    /// Creates a transport. Its threads run from the first exchange that needs them until it is released.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        engines = Locked(Array(repeating: nil, count: configuration.threadCount))
    }

    deinit { for engine in running { engine.loop.post(.shutDown) } }

    /// Performs one exchange.
    ///
    /// - Throws: A ``TransportError``.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        try await prepare(Hop(exchange)).response()
    }

    package func prepare(_ hop: Hop) throws -> any PreparedExchange {
        try capabilities.check(hop.exchange)
        guard hop.exchange.request.scheme == "http" else {
            throw hop.failure(.unsupportedURL, "the scheme \"\(hop.exchange.request.scheme ?? "")\" is not http")
        }
        let key: ConnectionKey
        do throws(HTTP1Error) {
            key = try ConnectionKey(hop.exchange.request)
        } catch {
            throw hop.failure(error.code, error.message)
        }
        let count = configuration.threadCount
        // All connections to a host belong to one thread.
        let index = count == 1 ? 0 : Int(key.host.hashValue.magnitude % UInt(count))
        let exchange = try HTTPExchange(hop, key, engine: try engine(at: index, url: hop.exchange.url))
        if case .stream = hop.exchange.delivery { exchange.streamOwner = self }
        return exchange
    }

    /// Closes connections that no exchange uses, and forgets the addresses of hosts. Returns immediately.
    public func closeIdleConnections() {
        for engine in running { engine.loop.post(.closeIdleConnections) }
    }

    /// The current connections, by host. Each thread reports its own, so this takes a moment, but no network.
    public var connectionStatistics: ConnectionStatistics? {
        get async {
            // An engine that has ended would not answer.
            defer { withExtendedLifetime(self) {} }
            var hosts: [ConnectionStatistics.Host] = []
            for engine in running {
                hosts += await withCheckedContinuation { continuation in
                    engine.loop.post(.countConnections { continuation.resume(returning: $0) })
                }
            }
            return ConnectionStatistics(hosts: hosts)
        }
    }

    /// Runs tasks on the thread that drives the connections.
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(transport.taskExecutor) {
    ///     try await session.request("http://localhost/").serializingData().value
    /// }
    /// ```
    ///
    /// Requests from such a task, and their responses, don't switch threads. While the task computes, no connection makes progress, so
    /// use this for tasks that mostly wait. **Never block in such a task**: a semaphore that waits for a request of this transport
    /// waits forever.
    ///
    /// If there are several threads, this is the first of them, which has only some of the hosts. Set
    /// ``Configuration/maximumThreads`` to 1. The executor retains the transport.
    ///
    /// - Throws: A ``TransportError`` with the code ``TransportError/Code-swift.struct/outOfResources`` if there is no thread.
    public var taskExecutor: any TaskExecutor {
        get throws {
            let loop = try engine(at: 0, url: nil).loop
            return LoopExecutor(of: self) { loop.post(.run($0)) }
        }
    }

    private var running: [HTTPEngine] { engines.withLock { $0.compactMap(\.self) } }

    private func engine(at index: Int, url: @autoclosure () -> String?) throws -> HTTPEngine {
        do {
            return try engines.withLock { engines in
                if let engine = engines[index] { return engine }
                let started = try HTTPEngine(configuration: configuration.forOneThread)
                engines[index] = started
                return started
            }
        } catch {
            throw TransportError(
                .outOfResources, phase: .queued, url: url(), message: "the transport could not start",
                underlying: error)
        }
    }
}
