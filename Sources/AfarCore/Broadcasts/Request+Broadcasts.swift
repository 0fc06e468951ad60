public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// The broadcast of one kind of event, made on first use. It ends with the request.
    ///
    /// - Parameter last: What happened before.
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

    /// A broadcast as a sequence, which retains the request; an iteration does not.
    ///
    /// - Parameter transform: Makes the sequence's elements.
    func stream<Value, Element>(
        of broadcast: Broadcast<Value>,
        bufferingPolicy: StreamOf<Element>.BufferingPolicy,
        _ transform: @escaping @Sendable (Value) -> Element
    ) -> StreamOf<Element> {
        StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
            withExtendedLifetime(self) { broadcast.add(continuation, transform) }
        }
    }

    /// Broadcasts the last `URLRequest`. Its adapters are done, and its body has been made.
    func broadcastLastRequest() {
        let (broadcast, urlRequest) = mutable.withLock { state in
            state.history.finalRequestCount = state.history.requests.count
            return (state.observers?.urlRequests, state.history.finalRequest)
        }
        if let urlRequest { broadcast?.send(urlRequest) }
    }
}

extension RequestState {
    /// Makes a broadcast that ends with the request.
    mutating func makeBroadcast<Value>(after last: Value? = nil) -> Broadcast<Value> {
        let broadcast = Broadcast(last: last, isOver: handlers.isOver)
        handlers.append(onFinish: broadcast.finish)
        return broadcast
    }
}

extension Request {
    /// Sets a closure that is called with each `URLRequest` made for sending: one for each attempt, as the adapters
    /// left it, after the body of an upload has been made. Only the last closure set is called.
    ///
    /// Set later, it is called with the last of these at once.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called. The default is the main queue.
    ///   - handler: Called once for each attempt.
    @preconcurrency
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        madeURLRequests.setHandler(on: queue, handler)
        return self
    }

    /// The `URLRequest`s made for sending, to await: one for each attempt, as the adapters left it, after the body of an
    /// upload has been made.
    ///
    /// An iteration that begins late gets the last of these first. It ends when the request is finished,
    /// cancelled too; ending the iteration leaves the request alone.
    ///
    /// - Parameter bufferingPolicy: Which elements are kept for a loop that falls behind. The default is `.unbounded`.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        stream(of: madeURLRequests, bufferingPolicy: bufferingPolicy) { $0 }
    }

    var madeURLRequests: Broadcast<URLRequest> { broadcast(\.urlRequests) { $0.history.finalRequest } }
}
