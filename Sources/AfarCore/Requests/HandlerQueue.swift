import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request's handlers in the order in which they were added, and their progress. The queue calls no handlers itself. To drain
/// it, call ``step()`` and carry out the returned steps until the step is `done`.
///
/// Handlers create their responses one at a time. After all responses have been created, they are delivered in the same order.
/// A handler that is added after that runs last, with the response data that the request has stored.
struct HandlerQueue {
    typealias FinishHandler = @Sendable () -> Void

    enum Step {
        /// The next handler must create its response.
        case makeResponse(ResponseHandler)
        /// All handlers have created their responses. Deliver them, then call `step()` again.
        case deliver([ResponseHandler])
        /// Only these closures remain. Call them, then call `step()` again.
        case finish([FinishHandler])
        /// The queue has been drained.
        case done
    }

    private var handlers: [ResponseHandler] = []
    private var next = 0
    private var finishHandlers: [FinishHandler] = []
    /// Whether the network operations have ended, so that handlers can run.
    private var isOpen = false
    private var isDraining = false

    /// Adds a handler. Returns whether the queue had already been drained. In this case, the caller must drain it again.
    mutating func append(_ handler: ResponseHandler) -> Bool {
        handlers.append(handler)
        guard isDrained else { return false }
        isDraining = true
        return true
    }

    /// Opens the queue after the network operations of an attempt have ended. The caller must then drain the queue.
    mutating func open() {
        isOpen = true
        isDraining = true
    }

    /// Adds a closure that is called after all completion handlers. Does nothing if the queue has been drained.
    mutating func append(onFinish: @escaping FinishHandler) {
        if !isDrained { finishHandlers.append(onFinish) }
    }

    /// Removes and returns the closures that ``append(onFinish:)`` has added. Called for the last step, and for a request that
    /// is released before it finishes.
    mutating func abandon() -> [FinishHandler] { Swift.exchange(&finishHandlers, with: []) }

    var isEmpty: Bool { handlers.isEmpty }
    var isDrained: Bool { isOpen && !isDraining }

    /// Prepares for another attempt, in which all handlers run again.
    ///
    /// - Returns: The handlers. The caller must discard their responses outside the lock, because responses contain user values.
    mutating func prepareForRetry() -> [ResponseHandler] {
        next = 0
        isOpen = false
        isDraining = false
        return handlers
    }

    mutating func step() -> Step {
        if next < handlers.count {
            next += 1
            return .makeResponse(handlers[next - 1])
        }
        guard handlers.isEmpty else {
            next = 0
            return .deliver(Swift.exchange(&handlers, with: []))
        }
        guard finishHandlers.isEmpty else { return .finish(abandon()) }
        isDraining = false
        return .done
    }
}

/// A handler that creates a response from a request's received data.
///
/// This class isn't generic, because code for an unspecialized type is slow. Instead, a closure captures the typed response.
final class ResponseHandler: @unchecked Sendable {
    // Sendable: only one pipeline step uses it at a time.

    /// A response that has been created.
    struct Created {
        let error: AFError?
        /// Delivers the response. If the error isn't nil, it replaces the response's result.
        let deliver: (AFError?) -> Void
    }

    private let create: @Sendable (Request) -> Created
    @exclusivity(unchecked) private var deliverResponse: ((AFError?) -> Void)?
    /// The error that replaces the response's result.
    @exclusivity(unchecked) var failure: AFError?

    init(_ create: @escaping @Sendable (Request) -> Created) { self.create = create }

    /// Creates the response, and returns its error.
    func makeResponse(of request: Request) -> AFError? {
        let created = create(request)
        deliverResponse = created.deliver
        return created.error
    }

    /// Delivers the response once.
    ///
    /// - Parameter end: The error that ended the request in the meantime. It takes precedence over `failure` and the response's
    ///   result.
    func deliver(end: AFError?) { deliverResponse.take()?(end ?? failure) }

    /// Discards the response before another attempt.
    func discardResponse() { deliverResponse = nil }
}

extension Request {
    /// Adds a handler that is called on a queue. Nil means the main queue.
    func addHandler<Response: SettledResponse>(
        on queue: DispatchQueue?,
        _ makeResponse: @escaping @Sendable (Request) -> Response,
        completion: @escaping @Sendable (Response) -> Void
    ) {
        addHandler(makeResponse) { response in
            // The response is transferred, never shared.
            nonisolated(unsafe) let response = response
            (queue ?? .main).asyncKeepingTransport { completion(response) }
        }
    }

    /// Adds a handler of any kind. Starts the request unless automatic starting is turned off.
    func addHandler<Response: SettledResponse>(
        _ makeResponse: @escaping @Sendable (Request) -> Response,
        completion: @escaping @Sendable (Response) -> Void
    ) {
        let handler = ResponseHandler { request in
            let response = makeResponse(request)
            return .init(error: response.error) { failure in
                if let failure { completion(response.failing(with: failure)) } else { completion(response) }
            }
        }
        let mustDrain = mutable.withLock { $0.handlers.append(handler) }
        if mustDrain {
            RequestPipeline(self).callLateHandlers()
        } else {
            startIfAutomatic()
        }
    }

    /// Starts the request unless automatic starting is turned off.
    func startIfAutomatic() {
        if shouldAutomaticallyResume ?? session.startRequestsImmediately, isInitialized { resume() }
    }

    /// Runs a function on a queue, or inline if the queue is nil.
    nonisolated(nonsending) func onQueue<Value, Failure: Error>(
        _ queue: DispatchQueue?, _ work: () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let queue else { return try work() }
        return try await withTaskExecutorPreference(QueueExecutor(queue)) { () async throws(Failure) in try work() }
    }

    /// Creates a value from the request's received data, and measures how long that takes.
    func serialized<Value>(
        data: Data? = nil, _ serialize: (URLRequest?, ResponseHead?, AFError?) throws -> Value
    ) -> (AFResult<Value>, ResponseDetails) {
        let (request, error, head, attempt, startTime) = mutable.withLock { state in
            (state.history.requests.last, state.error, state.attempt.head, state.history.attempts.last, state.startTime)
        }
        let began = Date.timeIntervalSinceReferenceDate
        let result: AFResult<Value>
        do {
            result = .success(try serialize(request, head, error))
        } catch {
            result = .failure(
                error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error))))
        }
        let ended = Date.timeIntervalSinceReferenceDate
        let timeline = Timeline(
            requestStartTime: startTime ?? 0,
            initialResponseTime: attempt?.report.transactions.last?.responseStartDate?.timeIntervalSinceReferenceDate
                ?? startTime ?? 0,
            requestCompletedTime: attempt?.end.timeIntervalSinceReferenceDate ?? began,
            serializationCompletedTime: ended)
        let details = ResponseDetails(
            request: request, origin: .network(head, attempt, sensitiveHeaders: session.configuration.sensitiveHeaders),
            data: data, timeline: timeline, serializationDuration: ended - began)
        return (result, details)
    }
}
