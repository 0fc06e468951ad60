public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// Returns the broadcast of one kind of event, creating it on first use. It ends with the request.
    ///
    /// - Parameter last: Returns the last value before the broadcast was created.
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
    ///
    /// - Parameter transform: Converts a value to an element.
    func stream<Value, Element>(
        of broadcast: Broadcast<Value>,
        bufferingPolicy: StreamOf<Element>.BufferingPolicy,
        _ transform: @escaping @Sendable (Value) -> Element
    ) -> StreamOf<Element> {
        StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
            withExtendedLifetime(self) { broadcast.add(continuation, transform) }
        }
    }

    /// Broadcasts the last `URLRequest`, after its adapters have run and its body has been created.
    func broadcastLastRequest() {
        let (broadcast, urlRequest) = mutable.withLock { state in
            state.history.finalRequestCount = state.history.requests.count
            return (state.observers?.urlRequests, state.history.finalRequest)
        }
        if let urlRequest { broadcast?.send(urlRequest) }
    }
}

extension RequestState {
    /// Creates a broadcast that ends with the request.
    mutating func makeBroadcast<Value>(after last: Value? = nil) -> Broadcast<Value> {
        let broadcast = Broadcast(last: last, isOver: handlers.isOver)
        handlers.append(onFinish: broadcast.finish)
        return broadcast
    }
}

extension Request {
    /// Sets a closure that is called with each `URLRequest` created for sending: one per attempt, after the adapters have run and
    /// the body of an upload has been created. A later call replaces the closure.
    ///
    /// A closure set later is called immediately with the last such request.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - handler: Called once per attempt.
    @preconcurrency
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        madeURLRequests.setHandler(on: queue, handler)
        return self
    }

    /// Returns a sequence of the `URLRequest`s created for sending: one per attempt, after the adapters have run and the body of
    /// an upload has been created.
    ///
    /// An iteration that starts late first receives the last such request. It ends when the request finishes or is cancelled.
    /// Ending the iteration doesn't affect the request.
    ///
    /// - Parameter bufferingPolicy: How elements are buffered for a slow loop. The default is `.unbounded`.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        stream(of: madeURLRequests, bufferingPolicy: bufferingPolicy) { $0 }
    }

    var madeURLRequests: Broadcast<URLRequest> { broadcast(\.urlRequests) { $0.history.finalRequest } }
}
