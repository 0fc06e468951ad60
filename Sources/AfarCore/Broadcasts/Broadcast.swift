import Foundation

/// Broadcasts the values of one kind of event of a request, to one handler and any number of streams.
///
/// One thread sends at a time. While the lock is held no user code runs, and nothing is released whose deinit may run
/// some: at most something is put into a queue, or into a stream that nobody reads yet.
final class Broadcast<Value: Sendable>: Sendable {
    /// Receives values until there will be no more.
    struct Listener: Sendable {
        var receive: @Sendable (Value) -> Void
        var finish: @Sendable () -> Void = {}
    }

    private struct State {
        var last: Value?
        /// How often `last` was set.
        var count: Int
        var isOver: Bool
        var handler: Listener?
        /// In the order in which they came.
        var others: [(id: Int, listener: Listener)] = []
        var lastID = 0

        mutating func takeListeners() -> [Listener] {
            defer { (handler, others) = (nil, []) }
            return listeners
        }

        // No key path: that of a generic type is looked up by name at each turn.
        var listeners: [Listener] { (handler.map { [$0] } ?? []) + others.map { $0.listener } }

        /// Returns the replaced listener, to be released without the lock.
        mutating func replaceHandler(with listener: Listener) -> Listener? {
            guard !isOver else { return listener }
            return Swift.exchange(&handler, with: listener)
        }

        /// What happened last, if that is newer than the first value prepared for a listener; else adds the listener,
        /// unless all is over.
        mutating func news(
            since prepared: inout Int, orAdd listener: Listener, telling tellFirst: () -> Void, _ id: inout Int?
        ) -> Value? {
            if let last {
                guard prepared == count else {
                    prepared = count
                    return last
                }
                tellFirst()
            }
            if !isOver {
                lastID += 1
                others.append((lastID, listener))
                id = lastID
            }
            return nil
        }

        mutating func remove(_ id: Int) -> Listener? {
            others.firstIndex { $0.id == id }.map { others.remove(at: $0).listener }
        }
    }

    private let state: InlineLocked<State>

    /// - Parameters:
    ///   - last: What happened before anybody asked.
    ///   - isOver: Whether nothing more will happen.
    init(last: Value? = nil, isOver: Bool = false) {
        state = InlineLocked(State(last: last, count: last == nil ? 0 : 1, isOver: isOver))
    }

    /// What happened last.
    var last: Value? { state.withLock { $0.last } }

    func send(_ value: Value) {
        let listeners = state.withLock { state in
            state.last = value
            state.count += 1
            return state.listeners
        }
        for listener in listeners { listener.receive(value) }
    }

    /// Drops the last value.
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

    /// Sets the handler, in place of the one before; the last value is delivered to it at once.
    func setHandler(on queue: DispatchQueue, _ handler: @escaping @Sendable (Value) -> Void) {
        let listener = Listener { value in queue.async { handler(value) } }
        state.release { state in
            if let last = state.last { listener.receive(last) }
            return state.replaceHandler(with: listener)
        }
    }

    /// Adds a listener that only puts values into a queue. The last value is delivered to it at once.
    ///
    /// - Returns: What takes it away again.
    @discardableResult
    func add(_ listener: Listener) -> @Sendable () -> Void {
        add(listener) { value in { listener.receive(value) } }
    }

    /// Adds a stream that nothing reads yet. The last value is delivered to it at once.
    ///
    /// - Parameter transform: Makes an element of a value.
    func add<Element: Sendable>(
        _ continuation: AsyncStream<Element>.Continuation, _ transform: @escaping @Sendable (Value) -> Element
    ) {
        let listener = Listener(
            receive: { continuation.yield(transform($0)) },
            finish: { continuation.finish() })
        let remove = add(listener) { value in
            let element = transform(value)
            return { continuation.yield(element) }
        }
        continuation.onTermination = { _ in remove() }
    }

    /// - Parameter prepare: Gives what tells the listener the first value; it runs nobody's code.
    private func add(_ listener: Listener, prepare: (Value) -> () -> Void) -> @Sendable () -> Void {
        var prepared = 0
        var tellFirst = {}
        var id: Int?
        // From the first value on nothing is missed, and nothing comes twice.
        while let news = state.withLock({ $0.news(since: &prepared, orAdd: listener, telling: tellFirst, &id) }) {
            tellFirst = prepare(news)
        }
        guard let id else {
            listener.finish()
            return {}
        }
        return { [weak self] in self?.state.release { $0.remove(id) } }
    }
}
