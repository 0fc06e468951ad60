import Foundation

/// Passes the chunks of a body to consumers as they arrive.
final class StreamSink: ResponseSink {
    /// A consumer of chunks. The next chunk is read after `consume` returns.
    struct Consumer: Sendable {
        /// Called when a body begins.
        var begin: @Sendable (ResponseHead) -> Void = { _ in }
        var consume: @Sendable (Data) async -> Void
    }

    private let consumers = Locked<[Consumer]>([])

    func append(_ consumer: Consumer) { consumers.withLock { $0.append(consumer) } }

    func openDelivery(for request: Request) -> ResponseDelivery { .stream() }

    func read(_ response: TransportResponse, for request: Request) async throws {
        guard case .stream(let body) = response.body else { return }
        try request.validate(.stream, as: DataStreamRequest.self) { events, request, validated, response, result in
            events.request(request, didValidateRequest: validated.request, response: response, withResult: result)
        }
        for consumer in consumers.withLock({ $0 }) { consumer.begin(response.head) }
        try await request.forEachChunk(of: body) { chunk in
            for consumer in consumers.withLock({ $0 }) where !request.hasEnded { await consumer.consume(chunk) }
        }
    }

    func end() { consumers.release { Swift.exchange(&$0, with: []) } }
}
