public import AfarTransport
import CLibcurl
import Foundation

/// The transport on libcurl: HTTP/1.1 over TCP and TLS, kept connections, one thread for all of it.
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
    /// Nil until the first exchange.
    private let loop = Locked<CurlLoop?>(nil)
    /// What this transport can do.
    public let capabilities: TransportCapabilities

    /// Makes a transport. It has a thread of its own from its first exchange until it is released.
    ///
    /// When threads or descriptors have run out, that exchange fails with
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
        self.configuration = configuration
    }

    deinit { loop.withLock { $0 }?.post(.shutDown) }

    /// Performs one exchange.
    ///
    /// - Throws: A ``TransportError``.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        try await prepare(Hop(exchange)).response()
    }

    package func prepare(_ hop: Hop) throws -> any PreparedExchange {
        try capabilities.check(hop.exchange)
        let transfer = try Transfer(hop, loop: try runningLoop(for: hop.exchange))
        if case .stream = hop.exchange.delivery { transfer.streamOwner = self }
        return transfer
    }

    /// Closes connections that no exchange uses.
    public func closeIdleConnections() {
        loop.withLock { $0 }?.post(.closeIdleConnections)
    }

    private func runningLoop(for exchange: Exchange) throws -> CurlLoop {
        do {
            return try loop.withLock { loop in
                if let loop { return loop }
                let started = try CurlLoop(configuration: configuration)
                loop = started
                return started
            }
        } catch {
            throw TransportError(
                .outOfResources, phase: .queued, url: exchange.url, message: "the transport could not start",
                underlying: error)
        }
    }
}
