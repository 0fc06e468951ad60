public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends the values of one kind of request event to one handler and any number of streams.
///
/// Only one thread sends at a time. While the lock is held, no user code runs. Objects whose `deinit` could run user code are
/// released outside the lock. Code under the lock only adds values to queues and to streams that aren't being read yet.
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
        var isFinished: Bool
        var handler: Listener?
        /// In the order in which they were added.
        var others: [(id: Int, listener: Listener)] = []
        var lastID = 0

        mutating func takeListeners() -> [Listener] {
            defer { (handler, others) = (nil, []) }
            return listeners
        }

        // Don't use `map(\.listener)`, because a key path of a generic type would be looked up by name on each use.
        var listeners: [Listener] { (handler.map { [$0] } ?? []) + others.map { $0.listener } }

        /// Replaces the handler, unless the broadcast has ended. Returns the unused listener, which must be released outside the
        /// lock.
        mutating func replaceHandler(with listener: Listener) -> Listener? {
            guard !isFinished else { return listener }
            return Swift.exchange(&handler, with: listener)
        }

        /// Returns the last value if it is newer than the value prepared for the listener. Otherwise, delivers the prepared value,
        /// adds the listener unless the broadcast has ended, and returns nil.
        mutating func newerValue(
            than prepared: inout Int, orAdd listener: Listener, notifying notifyFirst: () -> Void, _ id: inout Int?
        ) -> Value? {
            if let last {
                guard prepared == count else {
                    prepared = count
                    return last
                }
                notifyFirst()
            }
            if !isFinished {
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

    init(last: Value? = nil, isFinished: Bool = false) {
        state = InlineLocked(State(last: last, count: last == nil ? 0 : 1, isFinished: isFinished))
    }

    var last: Value? { state.withLock { $0.last } }

    func send(_ value: Value) {
        let listeners = state.withLock { state in
            state.last = value
            state.count += 1
            return state.listeners
        }
        for listener in listeners { listener.receive(value) }
    }

    func discardLast() {
        state.withLock { $0.last = nil }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            return state.takeListeners()
        }
        for listener in listeners { listener.finish() }
    }

    /// Sets the handler, replacing any previous one, and immediately delivers the last value to it.
    func setHandler(on queue: DispatchQueue, _ handler: @escaping @Sendable (Value) -> Void) {
        let listener = Listener { value in queue.async { handler(value) } }
        state.release { state in
            if let last = state.last { listener.receive(last) }
            return state.replaceHandler(with: listener)
        }
    }

    /// Adds a listener, and immediately delivers the last value to it. The listener must only add values to a queue.
    ///
    /// - Returns: A closure that removes the listener.
    @discardableResult
    func add(_ listener: Listener) -> @Sendable () -> Void {
        add(listener) { value in { listener.receive(value) } }
    }

    /// Adds a stream, and immediately delivers the last value to it. Call this before any task reads the stream.
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
        // Repeats until no newer value has been sent, so that no value is missed or delivered twice.
        while let newValue = state.withLock({
            $0.newerValue(than: &prepared, orAdd: listener, notifying: notifyFirst, &id)
        }) {
            notifyFirst = prepare(newValue)
        }
        guard let id else {
            listener.finish()
            return {}
        }
        return { [weak self] in self?.state.release { $0.remove(id) } }
    }
}

extension Request {
    /// Returns the broadcast of one kind of event, creating it on first use. The broadcast ends with the request.
    ///
    /// - Parameter last: Returns the most recent value that was sent before the broadcast existed, or nil if nothing was sent.
    func broadcast<Value>(
        _ kind: ReferenceWritableKeyPath<Observers, Broadcast<Value>?>,
        after last: (inout RequestState) -> Value? = { _ in nil }
    ) -> Broadcast<Value> {
        mutable.withLock { state in
            let observers = state.makeObservers()
            if let broadcast = observers[keyPath: kind] { return broadcast }
            let broadcast = state.makeBroadcast(after: last(&state))
            observers[keyPath: kind] = broadcast
            return broadcast
        }
    }

    /// Returns a broadcast as a sequence. The sequence retains the request; its iterators don't.
    func stream<Value, Element>(
        of broadcast: Broadcast<Value>,
        bufferingPolicy: StreamOf<Element>.BufferingPolicy,
        _ transform: @escaping @Sendable (Value) -> Element
    ) -> StreamOf<Element> {
        StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
            withExtendedLifetime(self) { broadcast.add(continuation, transform) }
        }
    }

    /// Broadcasts the last `URLRequest`. Called after the adapters have run and the body has been created.
    func broadcastLastRequest() {
        let (broadcast, urlRequest) = mutable.withLock { state in
            state.history.finalRequestCount = state.history.requests.count
            return (state.observers?.urlRequests, state.history.finalRequest)
        }
        if let urlRequest { broadcast?.send(urlRequest) }
    }
}

extension RequestState {
    mutating func makeBroadcast<Value>(after last: Value? = nil) -> Broadcast<Value> {
        let broadcast = Broadcast(last: last, isFinished: handlers.isDrained)
        handlers.append(onFinish: broadcast.finish)
        return broadcast
    }
}

extension Request {
    /// Sets a closure that is called with the final `URLRequest` of each attempt.
    ///
    /// The closure is called after the adapters have run and the body of an upload has been created. If a `URLRequest` has
    /// already been created, the closure is called immediately with the last one. A later call replaces the closure.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - handler: Called once per attempt.
    @preconcurrency
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        createdURLRequests.setHandler(on: queue, handler)
        return self
    }

    /// Returns a sequence of the final `URLRequest`s of the attempts.
    ///
    /// Each `URLRequest` is delivered after the adapters have run and the body of an upload has been created. If a `URLRequest`
    /// has already been created, the iteration begins with the last one. The iteration ends when the request finishes or is
    /// canceled. Ending the iteration doesn't affect the request.
    ///
    /// - Parameter bufferingPolicy: The policy for buffering elements until the loop receives them. The default is
    ///   `.unbounded`.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        stream(of: createdURLRequests, bufferingPolicy: bufferingPolicy) { $0 }
    }

    var createdURLRequests: Broadcast<URLRequest> { broadcast(\.urlRequests) { $0.history.finalRequest } }
}
