import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// The broadcast of one kind of event, made on first use. It ends with the request.
    ///
    /// - Parameter last: What happened before.
    func announcements<Value>(
        _ kind: WritableKeyPath<Mutable, Announcements<Value>?>, after last: (inout Mutable) -> Value? = { _ in nil }
    ) -> Announcements<Value> {
        mutable.withLock { state in
            if let announcements = state[keyPath: kind] { return announcements }
            let announcements = state.makeAnnouncements(after: last(&state))
            state[keyPath: kind] = announcements
            return announcements
        }
    }

    /// A broadcast as a sequence, which retains the request; an iteration does not.
    ///
    /// - Parameter transform: Makes the sequence's elements.
    func stream<Value, Element>(
        of announcements: Announcements<Value>,
        bufferingPolicy: StreamOf<Element>.BufferingPolicy,
        _ transform: @escaping @Sendable (Value) -> Element
    ) -> StreamOf<Element> {
        StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
            withExtendedLifetime(self) { announcements.add(continuation, transform) }
        }
    }

    /// Records a `URLRequest` that was made, and broadcasts it when it is the one to be sent.
    func didMake(_ urlRequest: URLRequest, isFinal: Bool) {
        let announcements = mutable.withLock { state in
            state.requests.append(urlRequest)
            return isFinal ? state.urlRequests : nil
        }
        announcements?.announce(urlRequest)
    }
}

extension Request.Mutable {
    /// Makes a broadcast that ends with the request.
    mutating func makeAnnouncements<Value>(after last: Value? = nil) -> Announcements<Value> {
        let announcements = Announcements(last: last, isOver: handlers.isOver)
        handlers.append(farewell: { _ in announcements.finish() })
        return announcements
    }
}
