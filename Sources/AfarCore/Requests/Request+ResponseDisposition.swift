public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// A decision on whether a request continues after its response's head has arrived.
    public enum ResponseDisposition: Sendable {
        /// The request continues.
        case allow
        /// The request is canceled.
        case cancel
    }

    /// Adds a handler that is called with the response's head and decides whether the request continues.
    ///
    /// A handler added before the request starts is called when the head arrives, once in each attempt. Meanwhile, the body
    /// continues to arrive. The body is validated and delivered only after the decision. Handlers are called sequentially.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - handler: Must call its second argument once. If the handler never calls it, the request waits until the request is
    ///     canceled.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPURLResponse, _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self {
        addHeadListener { response in
            await withCancellableCallback(ifCancelled: .cancel) { answer in
                queue.async { handler(response, answer) }
            }
        }
    }

    /// Adds a handler that is called with the response's head.
    ///
    /// A handler added before the request starts is called when the head arrives, once in each attempt. Meanwhile, the body
    /// continues to arrive. The body is validated and delivered only after the handler returns. If the handler cancels the
    /// request, no part of the body is delivered.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default is the main queue. If the program blocks its main
    ///     thread, the handler is never called and the request waits.
    ///   - handler: Called with the head.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (_ response: HTTPURLResponse) -> Void
    ) -> Self {
        onHTTPResponse(on: queue) { response, completionHandler in
            handler(response)
            completionHandler(.allow)
        }
    }

    /// Adds an asynchronous handler that is called with the response's head and decides whether the request continues.
    ///
    /// - Parameter handler: Called in its own task, which is canceled with the request. A handler added before the request starts
    ///   is called when the head arrives, once in each attempt.
    @_disfavoredOverload
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self {
        addHeadListener { response in await withCancellableTask(ifCancelled: .cancel) { await handler(response) } }
    }

    /// Adds an asynchronous handler that is called with the response's head. The request waits until the handler returns.
    ///
    /// - Parameter handler: Called in its own task, which is canceled with the request.
    @_disfavoredOverload
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void
    ) -> Self {
        onHTTPResponse { response -> ResponseDisposition in
            await handler(response)
            return .allow
        }
    }

    /// Returns an asynchronous sequence of the heads of the responses, one for each attempt.
    ///
    /// If a head has already arrived when an iteration starts, the iteration first receives the last head. The sequence ends
    /// when the request finishes or is canceled. Ending the iteration doesn't affect the request.
    ///
    /// - Parameter bufferingPolicy: Determines which elements are kept for a slow iteration. The default is `.unbounded`.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> {
        let responses = mutable.withLock { state in
            let responses = state.makeBroadcast(after: state.attempt.head?.httpURLResponse)
            state.append { response in
                responses.send(response)
                return .allow
            }
            return responses
        }
        return stream(of: responses, bufferingPolicy: bufferingPolicy) { $0 }
    }

    /// Adds a listener that calls the session's delegate before all other head listeners are called.
    func addDelegateListener() {
        let listener = session.delegate.headListener(for: self)
        if let listener { mutable.withLock { $0.settings.headListeners.insert(listener, at: 0) } }
    }

    typealias HeadListener = @Sendable (HTTPURLResponse) async -> ResponseDisposition

    /// - Parameter listener: Called once in each attempt, or immediately if a head has already arrived.
    private func addHeadListener(_ listener: @escaping HeadListener) -> Self {
        let head = mutable.withLock { state in
            state.append(listener)
            return state.attempt.head
        }
        if let head { Task { await callListeners([listener], with: head) } }
        return self
    }

    /// Decides how to handle a response whose head has arrived. Called on the thread on which the transport reads from the network.
    ///
    /// - Parameter control: The control of the exchange that received the head. The control prevents a late decision from
    ///   affecting the next attempt.
    /// - Returns: The decision. If the request has listeners, the second value is the work that calls them.
    func decide(on head: ResponseHead, in control: ExchangeControl) -> (HeadDecision, handlerWork: HopDriver.Work?) {
        guard mutable.withLock({ $0.attempt.control === control }) else { return (.refuse(CancellationError()), nil) }
        let decision = sink.decide(on: head, for: self)
        guard case .take = decision else { return (decision, nil) }
        return (decision, receiveHead(head))
    }

    var isRefusedAtHead: Bool { mutable.withLock { $0.attempt.isRefusedAtHead } }

    /// Stores the head for all listeners, including those that are added later.
    ///
    /// - Returns: Work that calls all listeners. Run it in one of the request's tasks. The value is nil if there are no
    ///   listeners, or if they have already been called in this attempt.
    func receiveHead(_ head: ResponseHead) -> HopDriver.Work? {
        let (listeners, headDecided) = mutable.withLock { state -> ([HeadListener], Deferred<Void>?) in
            let isNew = state.attempt.head == nil
            state.attempt.head = head
            guard isNew, !state.settings.headListeners.isEmpty else { return ([], nil) }
            let headDecided = Deferred<Void>()
            state.attempt.headDecided = headDecided
            return (state.settings.headListeners, headDecided)
        }
        guard let headDecided else { return nil }
        let decision = ListenerDecision(headDecided)
        return { [self] in
            await callListeners(listeners, with: head)
            decision.made.fulfill(())
        }
    }

    var headDecided: Deferred<Void>? { mutable.withLock { $0.attempt.headDecided } }

    private func callListeners(_ listeners: [HeadListener], with head: ResponseHead) async {
        guard let response = head.httpURLResponse else { return }
        for listener in listeners {
            let disposition = await listener(response)
            // A request that has already ended keeps its error.
            if !Task.isCancelled, case .cancel = disposition { cancel() }
            guard mutable.withLock({ $0.recordRefusal() }) == false else { return }
        }
    }
}

extension RequestState {
    /// Records and returns whether the request was ended while the listeners were called.
    fileprivate mutating func recordRefusal() -> Bool {
        attempt.isRefusedAtHead = end != nil
        return attempt.isRefusedAtHead
    }

    fileprivate mutating func append(_ listener: @escaping Request.HeadListener) {
        guard !handlers.isDrained else { return }
        settings.headListeners.append(listener)
    }
}

/// A pending decision about a head. The request waits for this decision. If the work that calls the listeners is released
/// without running, `deinit` ends the wait.
private final class ListenerDecision: Sendable {
    let made: Deferred<Void>

    init(_ made: Deferred<Void>) { self.made = made }

    deinit { made.fulfill(()) }
}
