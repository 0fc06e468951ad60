public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request whose response is held in memory.
public class DataRequest: Request, @unchecked Sendable {
    // Sendable because what it adds is behind a lock.

    struct Received {
        var data: Data?
        var validators: [Validator] = []
        var stream: (@Sendable (Data) -> Void)?
    }

    typealias Validator = @Sendable (URLRequest?, ResponseHead, Data?) throws -> Void

    let received = InlineLocked(Received())

    /// The response's body, once it is there; nil when there was none. When the request broke off or was cancelled, what
    /// had come of it by then; nothing, if it was cancelled by who was asked about the response's head.
    public var data: Data? { received.withLock { $0.data } }

    override func prepareForAttempt() {
        super.prepareForAttempt()
        received.withLock { $0.data = nil }
    }

    override func openDelivery() throws -> ResponseDelivery {
        try received.withLock { $0.stream != nil } || session.delegate.takesBodies ? .stream() : super.openDelivery()
    }

    override func read(_ body: ResponseBodyStream, after head: ResponseHead) async throws {
        let stream = received.withLock { $0.stream }
        try await forEachChunk(of: body) { stream?($0) }
    }

    override func receive(_ response: TransportResponse) throws {
        if case .data(let data) = response.body { keep(data) }
        try super.receive(response)
    }

    override func failure(after error: TransportError) -> AFError {
        // Without a head that was announced, it is the body of a redirect, say.
        if let data = error.partialBody, responseHead != nil { keep(data) }
        return super.failure(after: error)
    }

    private func keep(_ data: Data) {
        guard !data.isEmpty, !mutable.withLock({ $0.attempt.isRefusedAtHead }) else { return }
        received.withLock { $0.data = data }
        didReceive(data)
    }

    nonisolated(nonsending) override func keepResponse() async throws(AFError) { try runValidators() }

    private func runValidators() throws(AFError) {
        let (validators, data) = received.withLock { ($0.validators, $0.data) }
        guard !validators.isEmpty, let head = responseHead else { return }
        let request = request
        for validator in validators {
            try validate(head, with: { try validator(request, head, data) }) { events, response, result in
                events.request(
                    self, didValidateRequest: request, response: response, data: data, withResult: result)
            }
        }
    }

    /// Has the body handed to a closure while it arrives, in place of being kept: ``data`` stays nil. Set it before the
    /// request starts. A ``DataStreamRequest`` can do more.
    ///
    /// - Parameter closure: Called for each chunk, in the request's task: the next is read when it returns. Nil keeps the
    ///   body as usual.
    @preconcurrency
    @discardableResult
    public func stream(closure: (@Sendable (Data) -> Void)? = nil) -> Self {
        received.release { Swift.exchange(&$0.stream, with: closure) }
        return self
    }

    override func cleanUp() {
        super.cleanUp()
        received.release { (Swift.exchange(&$0.validators, with: []), $0.stream.take()) }
    }

    override func append(_ rule: @escaping Rule) {
        append { request, head, data in try rule(request, head) { data?.isEmpty == false } }
    }

    func append(_ validator: @escaping Validator) {
        received.withLock { $0.validators.append(validator) }
    }
}
