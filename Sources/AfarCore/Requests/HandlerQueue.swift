import Foundation

/// A request's handlers in the order in which they were added, and how far they have come: a pure value.
///
/// Serializers run one at a time; when all have run, the completions are released in the same order. A handler added
/// after that is run on what the request has kept, and its completion comes after the others.
struct HandlerQueue<Subject> {
    /// Serializes what the request, its subject, has received.
    typealias Handler = @Sendable (Subject) -> Outcome

    /// What a serializer came to.
    struct Outcome: Sendable {
        var error: AFError?
        var release: Release
    }

    /// Hands a result to whoever waits for it, or the error given here in its place.
    typealias Release = @Sendable (_ failure: AFError?) -> Void

    enum Step {
        case serialize(Handler)
        /// Nothing is left to serialize: release these, then look again. The handlers are through; they hold serializers of
        /// the user's, which are not to be let go of under a lock.
        case release([Release], spent: [Handler])
        /// Nothing is left at all; nobody is draining any more.
        case done
    }

    private var handlers: [Handler] = []
    private var next = 0
    private var releases: [Release] = []
    /// Called when nothing is left to release either.
    private var finishHandlers: [Release] = []
    /// Whether the network work is over, so that handlers can be run.
    private var isOpen = false
    private var isDraining = false

    /// Adds a handler. Returns whether the caller must drain the queue, because the request has nobody any more who does.
    mutating func append(_ handler: @escaping Handler) -> Bool {
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
    mutating func append(onFinish: @escaping Release) {
        if !isOver { finishHandlers.append(onFinish) }
    }

    /// There will be no end. Returns what was to be done at it.
    mutating func abandon() -> [Release] { Swift.exchange(&finishHandlers, with: []) }

    /// Whether all is done, and nobody is draining.
    var isOver: Bool { isOpen && !isDraining }

    /// Another attempt begins: all handlers are to run again.
    ///
    /// - Returns: What comes to nothing. It holds values of the user's, which are not to be let go of under a lock.
    mutating func rewind() -> [Release] {
        next = 0
        isOpen = false
        isDraining = false
        return Swift.exchange(&releases, with: [])
    }

    /// What to do next.
    mutating func step() -> Step {
        if next < handlers.count {
            next += 1
            return .serialize(handlers[next - 1])
        }
        if releases.isEmpty, !finishHandlers.isEmpty { swap(&releases, &finishHandlers) }
        guard releases.isEmpty else {
            next = 0
            return .release(Swift.exchange(&releases, with: []), spent: Swift.exchange(&handlers, with: []))
        }
        isDraining = false
        return .done
    }

    /// Keeps a completion until all serializers have run.
    mutating func keep(_ release: @escaping Release) {
        releases.append(release)
    }
}
