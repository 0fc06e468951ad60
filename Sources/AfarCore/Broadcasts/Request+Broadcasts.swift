import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// The broadcast of one kind of event, made on first use. It ends with the request.
    ///
    /// - Parameter last: What happened before.
    func broadcast<Value>(
        _ kind: ReferenceWritableKeyPath<Observers, Broadcast<Value>?>, after last: (inout RequestState) -> Value? = { _ in nil }
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
