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
