import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Where one kind of thing is announced, made when somebody asks for it first. It ends with the request.
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

    /// Announcements as a sequence, which holds the request; an iteration does not.
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

    /// Notes a `URLRequest` that was made, and announces it when it is the one to be sent.
    func didMake(_ urlRequest: URLRequest, isFinal: Bool) {
        let announcements = mutable.withLock { state in
            state.requests.append(urlRequest)
            return isFinal ? state.urlRequests : nil
        }
        announcements?.announce(urlRequest)
    }
}

extension Request.Mutable {
    /// Where something is announced. It ends with the request.
    mutating func makeAnnouncements<Value>(after last: Value? = nil) -> Announcements<Value> {
        let announcements = Announcements(last: last, isOver: handlers.isOver)
        handlers.append(farewell: { _ in announcements.finish() })
        return announcements
    }
}
