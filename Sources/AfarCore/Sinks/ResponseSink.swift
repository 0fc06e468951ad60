import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A type that receives the responses of a request in all of its attempts. Each kind of request uses its own type.
///
/// The request's pipeline calls one method at a time. It calls ``decide(on:for:)`` on the thread on which the transport reads
/// from the network.
protocol ResponseSink: Sendable {
    // MARK: Sending

    /// Discards the data of the last attempt before the next one begins.
    func begin()

    /// Prepares a `URLRequest` for this kind of response, before the adapters run.
    func prepare(_ urlRequest: inout URLRequest, of request: Request) throws

    /// Returns the `URLRequest` with an http or https URL. The default returns it unchanged.
    func httpForm(of urlRequest: URLRequest) -> URLRequest

    /// Prepares the destination of the next response and returns how the response is delivered.
    func openDelivery(for request: Request) throws -> ResponseDelivery

    func prepare(_ exchange: inout Exchange) throws

    /// Returns the stages between the exchange and the transport, outermost first. The default returns the stack's stages.
    func stages(of stack: TransportStack) -> [any ExchangeStage]

    // MARK: Receiving

    /// Decides how to handle a response after its head has arrived. The default accepts every response.
    func decide(on head: ResponseHead, for request: Request) -> HeadDecision

    /// Uses a streamed body or a connection until it ends. An error fails the attempt.
    func read(_ response: TransportResponse, for request: Request) async throws

    func receive(_ response: TransportResponse, for request: Request) throws

    /// Receives the error of a failed exchange. The error can contain a partial body.
    ///
    /// - Returns: The error for the handlers. The default wraps the transport's error.
    func receive(_ error: TransportError, for request: Request) -> AFError

    nonisolated(nonsending) func commit(for request: Request) async throws(AFError)

    /// Discards the received data after a failed attempt.
    func abandon(for request: Request)

    // MARK: Completion

    /// Whether retriers are called for a failure. The default is true.
    var canBeRetried: Bool { get }

    func completionError(for error: AFError?) -> AFError?

    /// Releases the closures that won't be called again. Can be called more than once.
    func end()
}

extension ResponseSink {
    func begin() {}
    func prepare(_ urlRequest: inout URLRequest, of request: Request) throws {}
    func httpForm(of urlRequest: URLRequest) -> URLRequest { urlRequest }
    func prepare(_ exchange: inout Exchange) throws {}
    func stages(of stack: TransportStack) -> [any ExchangeStage] { stack.stages }
    func decide(on head: ResponseHead, for request: Request) -> HeadDecision { .take() }
    func read(_ response: TransportResponse, for request: Request) async throws {}
    func receive(_ response: TransportResponse, for request: Request) throws {}
    func receive(_ error: TransportError, for request: Request) -> AFError { AFError(error) }
    nonisolated(nonsending) func commit(for request: Request) async throws(AFError) {}
    func abandon(for request: Request) {}
    var canBeRetried: Bool { true }
    func completionError(for error: AFError?) -> AFError? { error }
    func end() {}
}

extension AFError {
    init(_ error: TransportError) { self = error.trustFailure ?? .sessionTaskFailed(error: error.urlError) }
}

// MARK: - Memory

/// Stores the body of a response in memory, or passes it to a closure as it arrives.
final class MemorySink: ResponseSink {
    private struct State {
        var data: Data?
        var consume: (@Sendable (Data) -> Void)?
    }

    private let state = InlineLocked(State())

    /// The body, or nil if it hasn't arrived or is empty.
    var data: Data? {
        get { state.withLock { $0.data } }
        set { state.release { Swift.exchange(&$0.data, with: newValue) } }
    }

    /// Sets a closure that receives the body. If the closure is nil, the body is stored.
    func stream(to consume: (@Sendable (Data) -> Void)?) {
        state.release { Swift.exchange(&$0.consume, with: consume) }
    }

    func begin() { data = nil }

    func openDelivery(for request: Request) -> ResponseDelivery {
        if state.withLock({ $0.consume != nil }) || request.session.delegate.receivesBodies { return .stream() }
        return .collect(limit: request.session.configuration.maximumResponseBodySize)
    }

    func read(_ response: TransportResponse, for request: Request) async throws {
        guard case .stream(let body) = response.body else { return }
        let consume = state.withLock { $0.consume }
        try await request.forEachChunk(of: body) { consume?($0) }
    }

    func receive(_ response: TransportResponse, for request: Request) {
        if case .data(let data) = response.body { store(data, of: request) }
    }

    func receive(_ error: TransportError, for request: Request) -> AFError {
        // If no head was reported, the data can be a redirect's body.
        if let data = error.partialBody, request.responseHead != nil { store(data, of: request) }
        return AFError(error)
    }

    private func store(_ data: Data, of request: Request) {
        guard !data.isEmpty, !request.isRefusedAtHead else { return }
        self.data = data
        request.didReceive(data)
    }

    nonisolated(nonsending) func commit(for request: Request) async throws(AFError) {
        try await request.validate(.data(data))
    }

    func end() { stream(to: nil) }
}

// MARK: - Streams

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
        try await request.validate(.stream, arrivingIn: body)
        for consumer in consumers.withLock({ $0 }) { consumer.begin(response.head) }
        try await request.forEachChunk(of: body) { chunk in
            for consumer in consumers.withLock({ $0 }) where !request.hasEnded { await consumer.consume(chunk) }
        }
    }

    func end() { consumers.release { Swift.exchange(&$0, with: []) } }
}
