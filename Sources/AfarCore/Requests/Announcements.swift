import Foundation

/// One kind of thing that happens to a request, and who wants to know: one handler, and any number of streams.
///
/// One thread announces at a time. Nobody is told while the lock is held, with two exceptions that run nobody's code: a
/// handler's queue, and a stream that nobody reads yet.
final class Announcements<Value: Sendable>: Sendable {
    /// Told of values until there will be no more.
    struct Listener: Sendable {
        var tell: @Sendable (Value) -> Void
        var finish: @Sendable () -> Void = {}
    }

    private struct State {
        var last: Value?
        var isOver = false
        var handler: Listener?
        var others: [Int: Listener] = [:]
        var lastID = 0

        mutating func takeListeners() -> [Listener] {
            defer { (handler, others) = (nil, [:]) }
            return listeners
        }

        var listeners: [Listener] { (handler.map { [$0] } ?? []) + others.values }
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - last: What happened before anybody asked.
    ///   - isOver: Whether nothing more will happen.
    init(last: Value? = nil, isOver: Bool = false) {
        state = Locked(State(last: last, isOver: isOver))
    }

    deinit { finish() }

    /// What happened last.
    var last: Value? { state.withLock { $0.last } }

    func announce(_ value: Value) {
        let listeners = state.withLock { state in
            state.last = value
            return state.listeners
        }
        for listener in listeners { listener.tell(value) }
    }

    /// What happened last is of no interest any more.
    func forget() {
        state.withLock { $0.last = nil }
    }

    /// Nothing more will happen.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            return state.takeListeners()
        }
        for listener in listeners { listener.finish() }
    }

    /// Sets the handler, in place of the one before.
    func setHandler(_ listener: Listener) {
        state.withLock { state in
            if !state.isOver { state.handler = listener }
        }
    }

    /// Sets the handler, in place of the one before; it is told of what happened last at once.
    func setHandler(on queue: DispatchQueue, _ handler: @escaping @Sendable (Value) -> Void) {
        let listener = Listener { value in queue.async { handler(value) } }
        state.withLock { state in
            if let last = state.last { listener.tell(last) }
            if !state.isOver { state.handler = listener }
        }
    }

    /// Adds a stream, to which nobody listens yet. It is told of what happened last at once.
    ///
    /// - Parameter transform: Makes an element of a value.
    func add<Element: Sendable>(
        _ continuation: AsyncStream<Element>.Continuation, _ transform: @escaping @Sendable (Value) -> Element
    ) {
        let listener = Listener(
            tell: { continuation.yield(transform($0)) },
            finish: { continuation.finish() })
        let (id, isOver) = state.withLock { state in
            if let last = state.last { continuation.yield(transform(last)) }
            state.lastID += 1
            if !state.isOver { state.others[state.lastID] = listener }
            return (state.lastID, state.isOver)
        }
        guard !isOver else { return continuation.finish() }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
    }

    private func remove(_ id: Int) {
        let listener = state.withLock { $0.others.removeValue(forKey: id) }
        withExtendedLifetime(listener) {}
    }
}
