import Synchronization

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A request in its whole life: made, adapted, sent, perhaps retried, answered, and delivered to its handlers.
///
/// Requests are made by a ``Session``. All members may be used from any thread. This class holds what all kinds of
/// requests share; `RequestPipeline` says what happens in which order.
public class Request: @unchecked Sendable {
    // Sendable because everything that changes is behind `mutable`'s lock.

    /// Changes a `URLRequest` just after it was made from the caller's values.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    let session: SessionState
    /// The way that it goes: its session's, or what takes the place of that.
    let stack: TransportStack
    /// Makes the `URLRequest`, anew for each attempt.
    public let convertible: any URLRequestConvertible
    /// Whether no user code takes part in making the `URLRequest`.
    let isPlain: Bool
    /// Whether the transfer may take long enough that somebody asks for progress when it runs already.
    private let countsBytes: Bool
    /// Whether the first handler starts the request; nil leaves it to ``Session/startRequestsImmediately``.
    public let shouldAutomaticallyResume: Bool?
    let mutable: InlineLocked<RequestState>
    /// Whether the request has monitors of its own.
    let isMonitored = Atomic(false)

    init(
        convertible: any URLRequestConvertible,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        isPlain: Bool = false,
        countsBytes: Bool = false
    ) {
        self.countsBytes = countsBytes
        self.isPlain = isPlain
        self.convertible = convertible
        self.session = session
        stack = TransportOverride.current?.stack(for: session) ?? session.stack
        self.shouldAutomaticallyResume = shouldAutomaticallyResume
        mutable = InlineLocked(RequestState(interceptor: interceptor))
    }

    /// What awaits news of a request that was never started ends with it.
    deinit {
        for finish in mutable.withLock({ $0.handlers.abandon() }) { finish() }
    }

    // MARK: What the kinds of requests fill in

    /// Decides where the response's body goes, once for each attempt.
    func openDelivery() throws -> ResponseDelivery { .collect(limit: session.configuration.maximumResponseBodySize) }

    /// The body that goes with a request.
    func body(for urlRequest: URLRequest) throws -> RequestBody {
        if let data = urlRequest.httpBody { return .data(data) }
        guard let stream = urlRequest.httpBodyStream else { return .none }
        return body(from: stream, for: urlRequest)
    }

    /// The body that comes out of an input stream: the same one in each attempt, which knows whether it was read.
    func body(from stream: InputStream, for urlRequest: URLRequest) -> RequestBody {
        mutable.withLock { state in
            if let (source, body) = state.streamedBody, source === stream { return .stream(body) }
            let body = RequestBodyStream(stream, length: urlRequest.declaredLength)
            state.streamedBody = (stream, body)
            return .stream(body)
        }
    }

    /// Whether the body was read while it was sent, and no other will come in its place.
    var hasSpentItsBody: Bool {
        guard let stream = (convertible as? URLRequest)?.httpBodyStream else { return false }
        return mutable.withLock { $0.streamedBody.map { $0.source === stream && $0.body.isSpent } ?? false }
    }

    /// Adds what this kind of request asks for beyond what its owner does.
    func complete(_ urlRequest: inout URLRequest) throws {}

    /// The request as one of HTTP, where it is written otherwise.
    func httpForm(of urlRequest: URLRequest) -> URLRequest { urlRequest }

    /// Adds what this kind of request asks of an exchange.
    func complete(_ exchange: inout Exchange) throws {}

    /// The stages that the request passes on its way to the transport, outermost first.
    var stages: [any ExchangeStage] { stack.stages }

    /// Decides about the response when its head has come.
    ///
    /// - Returns: The verdict, and what asks those who want to know of the head, if anybody does.
    func judge(_ head: ResponseHead) -> (HeadVerdict, asking: HopDriver.Work?) {
        (.take(), receiveHead(head))
    }

    /// Keeps what a response brought.
    func receive(_ response: TransportResponse) throws {
        if let asking = receiveHead(response.head) { run(asking) }
    }

    /// Notifies the monitors of what is specific to this kind of request when an attempt is sent.
    func willSend(_ task: URLSessionTask, telling events: CompositeEventMonitor) {}

    /// Makes the body, if that is apart from the `URLRequest`.
    nonisolated(nonsending) func makeBody() async throws(AFError) {}

    /// Validates the response, and keeps what it brought.
    nonisolated(nonsending) func keepResponse() async throws(AFError) {}

    /// Reads a streamed body to its end. What it throws fails the attempt.
    func read(_ body: ResponseBodyStream, after head: ResponseHead) async throws {}

    /// Uses a connection until it ends. An error fails the attempt.
    func use(_ connection: any Connection, after head: ResponseHead) async throws {}

    /// Forgets what the last attempt brought.
    func prepareForAttempt() {
        if countsBytes { countBytes() }
        // Values of the caller's are not released under the lock.
        let (sending, receiving, _) = mutable.withLock { state in
            state.endTask()
            return (state.observers?.sending, state.observers?.receiving, Swift.exchange(&state.attempt, with: AttemptState()))
        }
        sending?.forget()
        receiving?.forget()
    }

    /// The exchange failed: what the handlers are to know of it.
    func failure(after error: TransportError) -> AFError {
        error.trustFailure ?? .sessionTaskFailed(error: error.urlError)
    }

    /// The attempt failed: what it has brought is of no more use.
    func abandonAttempt() {}

    /// Whether retriers are asked about a failure.
    var mayBeRetried: Bool { true }

    /// What the end is reported with.
    var completionError: AFError? { error }

    /// The request is over: what was made for it alone goes, and whoever will not be called any more, since they may hold
    /// the request. May be called more than once.
    func cleanUp() {
        mutable.release { state in
            state.deadlineTimer?.cancel()
            return (
                Swift.exchange(&state.headListeners, with: []), state.observers?.sending?.takeHandler(),
                state.observers?.receiving?.takeHandler(), state.pipeline.take(), state.borrower.take()
            )
        }
    }

    /// Adds a validator that every kind of request has.
    func append(_ rule: @escaping Rule) {}

    /// Makes what is to be sent from the caller's values.
    func makeURLRequest() throws(AFError) -> URLRequest {
        do {
            var urlRequest = try convertible.asURLRequest()
            try complete(&urlRequest)
            mutable.withLock { $0.history.requests.append(urlRequest) }
            try urlRequest.validate()
            events?.request(self, didCreateInitialURLRequest: urlRequest)
            return urlRequest
        } catch {
            let failure = fail(with: error.asAFError(or: .createURLRequestFailed(error: error)))
            events?.request(self, didFailToCreateURLRequestWithError: failure)
            throw failure
        }
    }

    /// Records why the attempt failed. Call it before the monitors are notified of the failure.
    ///
    /// - Returns: The request's error, which is another one if the request was ended from outside.
    @discardableResult
    func fail(with failure: AFError) -> AFError {
        // Values of the caller's are not released under the lock.
        let (end, _) = mutable.withLock { ($0.end, Swift.exchange(&$0.attempt.failure, with: failure)) }
        return end ?? failure
    }

    /// Who waits for the response.
    var borrower: (any JobBorrower)? { mutable.withLock { $0.borrower } }

    /// Ends the request for good: its error is ``AFError/explicitlyCancelled`` and its handlers are called. Does nothing
    /// to one that is finished.
    @discardableResult
    public func cancel() -> Self {
        cancel(because: .explicitlyCancelled)
        return self
    }
}

extension Request: Hashable {
    /// A request is equal to itself only.
    public static func == (lhs: Request, rhs: Request) -> Bool { lhs === rhs }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
