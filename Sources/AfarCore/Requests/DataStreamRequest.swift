import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request whose response is handed on while it arrives, and never held.
///
/// The next chunk is read when all handlers are done with the one before, so a slow handler holds the server back, where
/// the transport can do that. Validators look at the response's head, before the first chunk is handed on. A retry, if a
/// retrier asks for one in the middle, brings the body again from its first byte.
public final class DataStreamRequest: Request, @unchecked Sendable {
    // Sendable because what it adds is behind a lock.

    /// Somebody who gets each chunk; the next is read when `consume` returns.
    struct Consumer: Sendable {
        /// Called when a body begins.
        var begin: @Sendable (ResponseHead) -> Void = { _ in }
        var consume: @Sendable (DataStreamRequest, Data) async -> Void
    }

    typealias Validator = @Sendable (URLRequest?, ResponseHead) throws -> Void

    private struct Listeners {
        var consumers: [Consumer] = []
        var validators: [Validator] = []
    }

    /// Whether the request is cancelled when a serializer throws. (When a handler does, it always is.)
    public let automaticallyCancelOnStreamError: Bool
    private let listeners = Locked(Listeners())

    init(
        convertible: any URLRequestConvertible,
        automaticallyCancelOnStreamError: Bool,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?
    ) {
        self.automaticallyCancelOnStreamError = automaticallyCancelOnStreamError
        super.init(
            convertible: convertible, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }

    override func openDelivery() throws -> ResponseDelivery { .stream() }

    override func read(_ body: ResponseBodyStream, after head: ResponseHead) async throws {
        let request = request
        for validator in listeners.withLock({ $0.validators }) {
            do {
                try validate(head, with: { try validator(request, head) }) { events, response, result in
                    events.request(self, didValidateRequest: request, response: response, withResult: result)
                }
            } catch {
                throw error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
            }
        }
        for consumer in listeners.withLock({ $0.consumers }) { consumer.begin(head) }
        try await forEachChunk(of: body) { chunk in
            for consumer in listeners.withLock({ $0.consumers }) where !hasEnded { await consumer.consume(self, chunk) }
        }
    }

    override func cleanUp() {
        super.cleanUp()
        listeners.release { Swift.exchange(&$0, with: Listeners()) }
    }

    override func append(_ rule: @escaping Rule) {
        append { request, head in try rule(request, head) { head.mayHaveBody } }
    }

    func append(_ validator: @escaping Validator) {
        listeners.withLock { $0.validators.append(validator) }
    }

    func append(_ consumer: Consumer) {
        listeners.withLock { $0.consumers.append(consumer) }
    }
}

extension ResponseHead {
    /// Whether a body may follow, as far as the head tells (RFC 9112, section 6.3).
    fileprivate var mayHaveBody: Bool { contentLength != 0 && status != 204 && status != 304 }
}
