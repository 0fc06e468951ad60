import Foundation

/// Sends the values of one kind of request event to one handler and any number of streams.
///
/// Only one thread sends at a time. While the lock is held, no user code runs and nothing is released whose deinit could run user
/// code: at most, a value is added to a queue or to a stream that isn't being read yet.
final class Broadcast<Value: Sendable>: Sendable {
    /// Receives the values until the broadcast ends.
    struct Listener: Sendable {
        var receive: @Sendable (Value) -> Void
        var finish: @Sendable () -> Void = {}
    }

    private struct State {
        var last: Value?
        /// The number of times `last` was set.
        var count: Int
        var isOver: Bool
        var handler: Listener?
        /// In the order in which they were added.
        var others: [(id: Int, listener: Listener)] = []
        var lastID = 0

        mutating func takeListeners() -> [Listener] {
            defer { (handler, others) = (nil, []) }
            return listeners
        }

        // Not a key path: a key path of a generic type is looked up by name on each use.
        var listeners: [Listener] { (handler.map { [$0] } ?? []) + others.map { $0.listener } }

        /// Returns the replaced listener, which must be released outside the lock.
        mutating func replaceHandler(with listener: Listener) -> Listener? {
            guard !isOver else { return listener }
            return Swift.exchange(&handler, with: listener)
        }

        /// Returns the last value if it is newer than the value prepared for the listener. Otherwise adds the listener, unless
        /// the broadcast has ended.
        mutating func news(
            since prepared: inout Int, orAdd listener: Listener, notifying notifyFirst: () -> Void, _ id: inout Int?
        ) -> Value? {
            if let last {
                guard prepared == count else {
                    prepared = count
                    return last
                }
                notifyFirst()
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
    ///   - last: The last value before the broadcast was created.
    ///   - isOver: Whether no more values will follow.
    init(last: Value? = nil, isOver: Bool = false) {
        state = InlineLocked(State(last: last, count: last == nil ? 0 : 1, isOver: isOver))
    }

    /// The last value.
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

    /// Ends the broadcast.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            return state.takeListeners()
        }
        for listener in listeners { listener.finish() }
    }

    /// Sets the handler, replacing the previous one. The last value is delivered to it immediately.
    func setHandler(on queue: DispatchQueue, _ handler: @escaping @Sendable (Value) -> Void) {
        let listener = Listener { value in queue.async { handler(value) } }
        state.release { state in
            if let last = state.last { listener.receive(last) }
            return state.replaceHandler(with: listener)
        }
    }

    /// Adds a listener that only adds values to a queue. The last value is delivered to it immediately.
    ///
    /// - Returns: A closure that removes the listener.
    @discardableResult
    func add(_ listener: Listener) -> @Sendable () -> Void {
        add(listener) { value in { listener.receive(value) } }
    }

    /// Adds a stream that isn't being read yet. The last value is delivered to it immediately.
    ///
    /// - Parameter transform: Converts a value to an element.
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

    /// - Parameter prepare: Returns a closure that delivers the first value to the listener. The closure must not run user code.
    private func add(_ listener: Listener, prepare: (Value) -> () -> Void) -> @Sendable () -> Void {
        var prepared = 0
        var notifyFirst = {}
        var id: Int?
        // After the first value, no value is missed or delivered twice.
        while let news = state.withLock({ $0.news(since: &prepared, orAdd: listener, notifying: notifyFirst, &id) }) {
            notifyFirst = prepare(news)
        }
        guard let id else {
            listener.finish()
            return {}
        }
        return { [weak self] in self?.state.release { $0.remove(id) } }
    }
}
