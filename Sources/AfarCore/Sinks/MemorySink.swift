import Foundation

/// Stores the body of a response in memory, or passes it to a closure as it arrives.
final class MemorySink: ResponseSink {
    private struct State {
        var data: Data?
        var consume: (@Sendable (Data) -> Void)?
    }

    private let state = InlineLocked(State())

    /// The body, or nil before it has arrived and without one.
    var data: Data? {
        get { state.withLock { $0.data } }
        set { state.release { Swift.exchange(&$0.data, with: newValue) } }
    }

    /// Passes the body to a closure from now on. With nil, the body is stored.
    func stream(to consume: (@Sendable (Data) -> Void)?) {
        state.release { Swift.exchange(&$0.consume, with: consume) }
    }

    func begin() { data = nil }

    func openDelivery(for request: Request) -> ResponseDelivery {
        if state.withLock({ $0.consume != nil }) || request.session.delegate.takesBodies { return .stream() }
        return .collect(limit: request.session.configuration.maximumResponseBodySize)
    }

    func read(_ response: TransportResponse, for request: Request) async throws {
        guard case .stream(let body) = response.body else { return }
        let consume = state.withLock { $0.consume }
        try await request.forEachChunk(of: body) { consume?($0) }
    }

    func receive(_ response: TransportResponse, for request: Request) {
        if case .data(let data) = response.body { keep(data, of: request) }
    }

    func receive(_ error: TransportError, for request: Request) -> AFError {
        // If no head was reported, the data can be the body of a redirect.
        if let data = error.partialBody, request.responseHead != nil { keep(data, of: request) }
        return AFError(error)
    }

    private func keep(_ data: Data, of request: Request) {
        guard !data.isEmpty, !request.isRefusedAtHead else { return }
        self.data = data
        request.didReceive(data)
    }

    nonisolated(nonsending) func commit(for request: Request) async throws(AFError) {
        try request.validate(.data(data), as: DataRequest.self) { events, request, validated, response, result in
            events.request(
                request, didValidateRequest: validated.request, response: response, data: validated.data,
                withResult: result)
        }
    }

    func end() { stream(to: nil) }
}
