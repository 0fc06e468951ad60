/// A request's handlers in the order in which they were added, and their progress. It performs no calls itself.
///
/// Handlers create their responses one at a time. When all have done so, the responses are delivered in the same order. A
/// handler that is added later uses what the request has stored, and runs after the others.
struct HandlerQueue {
    typealias FinishHandler = @Sendable () -> Void

    enum Step {
        /// The next handler must create its response.
        case makeResponse(ResponseHandler)
        /// All handlers have their responses. Deliver them, then call `step()` again.
        case deliver([ResponseHandler])
        /// Only these closures are left. Call them, then call `step()` again.
        case finish([FinishHandler])
        /// Nothing is left. Draining has ended.
        case done
    }

    private var handlers: [ResponseHandler] = []
    private var next = 0
    private var finishHandlers: [FinishHandler] = []
    /// Whether the network operations have ended, so that handlers can run.
    private var isOpen = false
    private var isDraining = false

    /// Adds a handler. Returns whether the caller must drain the queue because the request's pipeline no longer does.
    mutating func append(_ handler: ResponseHandler) -> Bool {
        handlers.append(handler)
        guard isOver else { return false }
        isDraining = true
        return true
    }

    /// Opens the queue after the network operations of an attempt have ended. The caller drains the queue.
    mutating func open() {
        isOpen = true
        isDraining = true
    }

    /// Adds a closure to call at the end, after all completions. Does nothing after the end.
    mutating func append(onFinish: @escaping FinishHandler) {
        if !isOver { finishHandlers.append(onFinish) }
    }

    /// Returns the closures for the end, which will never be reached.
    mutating func abandon() -> [FinishHandler] { Swift.exchange(&finishHandlers, with: []) }

    /// Whether no handler is waiting for its response.
    var isEmpty: Bool { handlers.isEmpty }

    /// Whether everything is done and the queue isn't being drained.
    var isOver: Bool { isOpen && !isDraining }

    /// Prepares for another attempt, in which all handlers run again.
    ///
    /// - Returns: The handlers, which must discard their responses. Responses contain user values, which must not be released
    ///   under a lock.
    mutating func rewind() -> [ResponseHandler] {
        next = 0
        isOpen = false
        isDraining = false
        return handlers
    }

    /// Returns the next step.
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

/// A handler for a request's response. It creates the response from what was received, and delivers it after all handlers have
/// created theirs.
class ResponseHandler: @unchecked Sendable {
    // Sendable because only one step of the request's pipeline uses it at a time.

    /// The error that replaces the response's result.
    @exclusivity(unchecked) final var failure: AFError?

    /// Creates the response.
    ///
    /// - Returns: The response's error.
    func makeResponse(of request: Request) -> AFError? { nil }

    /// Delivers the response once.
    ///
    /// - Parameter end: The error with which the request was ended in the meantime. It takes precedence over the response's
    ///   result.
    func deliver(end: AFError?) {}

    /// Discards the response, because another attempt begins.
    func forget() {}
}

/// A handler for a specific type of response.
final class TypedResponseHandler<Response: SettledResponse>: ResponseHandler, @unchecked Sendable {
    // Sendable for the same reason as its superclass.
    private let respond: @Sendable (Request) -> Response
    private let completion: @Sendable (Response) -> Void
    @exclusivity(unchecked) private var response: Response?

    /// - Parameters:
    ///   - respond: Creates the response from what the request has received.
    ///   - completion: Called once.
    init(
        _ respond: @escaping @Sendable (Request) -> Response, completion: @escaping @Sendable (Response) -> Void
    ) {
        self.respond = respond
        self.completion = completion
    }

    override func makeResponse(of request: Request) -> AFError? {
        let response = respond(request)
        self.response = response
        return response.error
    }

    override func deliver(end: AFError?) {
        guard let response = response.take() else { return }
        if let failure = end ?? failure { completion(response.failing(with: failure)) } else { completion(response) }
    }

    override func forget() { response = nil }
}
