/// A request's handlers in the order in which they were added, and how far they have come: a pure value.
///
/// They make their responses one at a time; when all have, these are handed over in the same order. A handler added
/// after that works with what the request has kept, and its turn comes after the others.
struct HandlerQueue {
    typealias FinishHandler = @Sendable () -> Void

    enum Step {
        /// The next handler is to make its response.
        case makeResponse(ResponseHandler)
        /// All have theirs. They are to be handed over; then look again.
        case handOver([ResponseHandler])
        /// Nothing is left but this; then look again.
        case finish([FinishHandler])
        /// Nothing is left at all; nobody is draining any more.
        case done
    }

    private var handlers: [ResponseHandler] = []
    private var next = 0
    private var finishHandlers: [FinishHandler] = []
    /// Whether the network work is over, so that handlers can be run.
    private var isOpen = false
    private var isDraining = false

    /// Adds a handler. Returns whether the caller must drain the queue, because the request has nobody any more who does.
    mutating func append(_ handler: ResponseHandler) -> Bool {
        handlers.append(handler)
        guard isOver else { return false }
        isDraining = true
        return true
    }

    /// The network work of an attempt is over. The caller drains the queue.
    mutating func open() {
        isOpen = true
        isDraining = true
    }

    /// Adds what is to be done at the end, after all completions; nothing is added when that is past.
    mutating func append(onFinish: @escaping FinishHandler) {
        if !isOver { finishHandlers.append(onFinish) }
    }

    /// There will be no end. Returns what was to be done at it.
    mutating func abandon() -> [FinishHandler] { Swift.exchange(&finishHandlers, with: []) }

    /// Whether no handler waits for its response.
    var isEmpty: Bool { handlers.isEmpty }

    /// Whether all is done, and nobody is draining.
    var isOver: Bool { isOpen && !isDraining }

    /// Another attempt begins: all handlers are to run again.
    ///
    /// - Returns: The handlers, which are to forget their responses: these hold values of the user's, which are not to be
    ///   let go of under a lock.
    mutating func rewind() -> [ResponseHandler] {
        next = 0
        isOpen = false
        isDraining = false
        return handlers
    }

    /// What to do next.
    mutating func step() -> Step {
        if next < handlers.count {
            next += 1
            return .makeResponse(handlers[next - 1])
        }
        guard handlers.isEmpty else {
            next = 0
            return .handOver(Swift.exchange(&handlers, with: []))
        }
        guard finishHandlers.isEmpty else { return .finish(abandon()) }
        isDraining = false
        return .done
    }
}

/// Whoever wants a request's response: it is made of what was received, and handed over when all handlers have theirs.
class ResponseHandler: @unchecked Sendable {
    // Sendable because one step of the request's pipeline at a time has it.

    /// What is handed over in place of the response.
    @exclusivity(unchecked) final var failure: AFError?

    /// Makes the response.
    ///
    /// - Returns: Its error.
    func makeResponse(of request: Request) -> AFError? { nil }

    /// Hands the response over, once.
    ///
    /// - Parameter end: Why the request was ended meanwhile, which outranks what it came to.
    func handOver(end: AFError?) {}

    /// Drops the response: another attempt begins.
    func forget() {}
}

/// A handler of one kind of response.
final class TypedResponseHandler<Response: SettledResponse>: ResponseHandler, @unchecked Sendable {
    // Sendable as any handler.
    private let respond: @Sendable (Request) -> Response
    private let completion: @Sendable (Response) -> Void
    @exclusivity(unchecked) private var response: Response?

    /// - Parameters:
    ///   - respond: Makes the response of what the request has received.
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

    override func handOver(end: AFError?) {
        guard let response = response.take() else { return }
        if let failure = end ?? failure { completion(response.failing(with: failure)) } else { completion(response) }
    }

    override func forget() { response = nil }
}
