public import AfarCore
import CLibcurl
import Foundation

/// The transport on libcurl: HTTP/1.1 over TCP and TLS, kept connections, one thread for all of it.
///
/// One transport holds one pool of connections; sessions that share a transport share them. All methods may be called
/// from any thread. The operating system's libcurl is used: decoders for content codings, TLS and name look-up are what
/// it was built with.
///
/// libcurl sends a request again by itself, POST included, when a kept connection turns out to be dead before a byte of
/// the answer came (RFC 9112, section 9.3.1, leaves that to the client).
public final class CurlTransport: Transport, DirectTransport {
    private let loop: Result<CurlLoop, any Error>
    /// What this transport can do.
    public let capabilities: TransportCapabilities

    /// Makes a transport with a thread of its own, which ends when the transport is released.
    ///
    /// Nothing is thrown here: when descriptors have run out, each exchange fails with
    /// ``TransportError/Code-swift.struct/outOfResources``.
    public init(configuration: Configuration = Configuration()) {
        let library = CurlLibrary.shared
        capabilities = TransportCapabilities(
            name: "curl",
            features: [
                .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
                .connectTimeout, .minimumTLSVersion, .informationalResponses, .trailers, .anyMethod,
            ],
            contentCodings: library.contentCodings)
        loop = Result { try CurlLoop(configuration: configuration) }
    }

    deinit {
        if case .success(let loop) = loop { loop.post(.shutDown) }
    }

    /// Performs one exchange.
    ///
    /// - Throws: A ``TransportError``.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        let transfer = try makeTransfer(for: exchange)
        let outcome = Deferred<Result<TransportResponse, any Error>>()
        return try await withTaskCancellationHandler {
            transfer.start { outcome.fulfil($0) }
            return try await outcome.value.get()
        } onCancel: {
            transfer.cancel()
        }
    }

    package func prepare(_ exchange: Exchange) throws -> any PreparedExchange { try makeTransfer(for: exchange) }

    private func makeTransfer(for exchange: Exchange) throws -> Transfer {
        try capabilities.check(exchange)
        let transfer = try Transfer(exchange, loop: try runningLoop(for: exchange))
        if case .stream(let highWater) = exchange.delivery { transfer.makeStream(highWater: highWater, owner: self) }
        return transfer
    }

    /// Closes connections that no exchange uses.
    public func closeIdleConnections() {
        if case .success(let loop) = loop { loop.post(.closeIdleConnections) }
    }

    private func runningLoop(for exchange: Exchange) throws -> CurlLoop {
        do {
            return try loop.get()
        } catch {
            throw TransportError(
                .outOfResources, phase: .queued, url: exchange.url, message: "the transport could not start",
                underlying: error)
        }
    }
}
