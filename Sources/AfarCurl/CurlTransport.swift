public import AfarTransport
import CLibcurl
import Foundation

/// The transport on libcurl: HTTP/1.1 over TCP and TLS, kept connections, one thread for all of it up to four cores.
///
/// One transport holds one pool of connections; sessions that share a transport share them. All methods may be called
/// from any thread. The operating system's libcurl is used: decoders for content codings, TLS and name look-up are what
/// it was built with.
///
/// libcurl sends a request again by itself when a kept connection turns out to be dead before a byte of the answer came
/// (RFC 9112, section 9.3.1). Afar lets it do so with idempotent methods only (RFC 9110, section 9.2.2), and counts it in
/// ``TransactionMetrics/resendCount``; a POST fails with ``TransportError/Code-swift.struct/connectionLost``.
public final class CurlTransport: CallbackTransport {
    private let configuration: Configuration
    private let threads: Int
    /// Each nil until its first exchange.
    private let loops: Locked<[CurlLoop?]>
    /// What this transport can do.
    public let capabilities: TransportCapabilities

    /// Makes a transport. Its threads run from the first exchange that needs them until it is released.
    ///
    /// When threads or descriptors have run out, an exchange fails with
    /// ``TransportError/Code-swift.struct/outOfResources``, and the next one tries again.
    public init(configuration: Configuration = Configuration()) {
        let library = CurlLibrary.shared
        capabilities = TransportCapabilities(
            name: "curl",
            features: [
                .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
                .connectTimeout, .minimumTLSVersion, .informationalResponses, .trailers, .anyMethod,
                .minimumTransferRate,
            ],
            contentCodings: library.contentCodings)
        self.configuration = configuration.forOneThread
        threads = max(1, configuration.threads)
        loops = Locked(Array(repeating: nil, count: threads))
    }

    deinit { for loop in runningLoops { loop.post(.shutDown) } }

    /// Performs one exchange.
    ///
    /// - Throws: A ``TransportError``.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        try await prepare(Hop(exchange)).response()
    }

    package func prepare(_ hop: Hop) throws -> any PreparedExchange {
        try capabilities.check(hop.exchange)
        let plan = try RequestPlan(hop)
        let transfer = Transfer(hop, plan, loop: try runningLoop(index(of: plan.host), for: hop.exchange))
        if case .stream = hop.exchange.delivery { transfer.streamOwner = self }
        return transfer
    }

    /// Closes connections that no exchange uses.
    public func closeIdleConnections() {
        for loop in runningLoops { loop.post(.closeIdleConnections) }
    }

    /// The connections at this moment, by host. Their threads are asked, so this takes a moment, but no network.
    public func connectionStatistics() async -> ConnectionStatistics? {
        // A loop that has ended would not answer.
        defer { withExtendedLifetime(self) {} }
        var hosts: [ConnectionStatistics.Host] = []
        for loop in runningLoops {
            hosts += await withCheckedContinuation { continuation in
                loop.post(.countConnections { continuation.resume(returning: $0) })
            }
        }
        return ConnectionStatistics(hosts: hosts)
    }

    /// Lets tasks run on the thread that drives the connections, the first if there are several.
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(transport.taskExecutor) {
    ///     try await session.request("https://example.com/").serializingData().value
    /// }
    /// ```
    ///
    /// A request from there, and its answer, change no thread: one at a time take about half the processor time. But while
    /// such a task computes, no connection moves; so this is for tasks that mostly wait, and never for those that block. The
    /// executor keeps the transport.
    ///
    /// - Throws: A ``TransportError`` of code ``TransportError/Code-swift.struct/outOfResources`` when there is no thread.
    public var taskExecutor: any TaskExecutor {
        get throws { LoopExecutor(loop: try runningLoop(0, for: nil), of: self) }
    }

    private var runningLoops: [CurlLoop] { loops.withLock { $0.compactMap(\.self) } }

    /// The loop of all connections to a host.
    private func index(of host: String) -> Int {
        threads == 1 ? 0 : Int(host.hashValue.magnitude % UInt(threads))
    }

    private func runningLoop(_ index: Int, for exchange: Exchange?) throws -> CurlLoop {
        do {
            return try loops.withLock { loops in
                if let loop = loops[index] { return loop }
                let started = try CurlLoop(configuration: configuration)
                loops[index] = started
                return started
            }
        } catch {
            throw TransportError(
                .outOfResources, phase: .queued, url: exchange?.url, message: "the transport could not start",
                underlying: error)
        }
    }
}
