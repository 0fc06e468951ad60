public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Request {
    /// What becomes of a response whose head has come.
    public enum ResponseDisposition: Sendable {
        /// The request goes on.
        case allow
        /// The request is cancelled.
        case cancel
    }

    /// Adds a handler that is called with the response's head, and decides whether the request continues.
    ///
    /// Added before the request starts, it is asked when the head arrives, once in each attempt. A body goes on arriving
    /// meanwhile, but is neither validated nor handed on before the answer. Handlers are asked one after the other.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - handler: Must call its second argument once; if it never does, the request waits until it is cancelled.
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

    /// Adds a handler that is notified of the response's head.
    ///
    /// Added before the request starts, it is called when the head arrives, once in each attempt. A body goes on arriving
    /// meanwhile, but is neither validated nor handed on before the handler returns; if it cancels the request, nothing of
    /// the body is.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue: in a program whose main thread is blocked it
    ///     is never called, and the request waits.
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

    /// Adds an asynchronous handler that is called with the response's head, and decides whether the request continues.
    ///
    /// - Parameter handler: Asked as in the form with a completion handler, in a task of its own. It is cancelled with the
    ///   request.
    @_disfavoredOverload
    @discardableResult
    public func onHTTPResponse(
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
    ) -> Self {
        addHeadListener { response in await withCancellableTask(ifCancelled: .cancel) { await handler(response) } }
    }

    /// Adds an asynchronous handler that is called with the response's head, and on which the request waits.
    ///
    /// - Parameter handler: Called in a task of its own. It is cancelled with the request.
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

    /// The heads of the responses, to await: one for each attempt.
    ///
    /// An iteration that begins late gets the last head first. It ends when the request is finished, cancelled too;
    /// ending the iteration leaves the request alone.
    ///
    /// - Parameter bufferingPolicy: Which elements are kept for a loop that falls behind. The default is `.unbounded`.
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

    /// Has the session's delegate asked before anybody else.
    func letDelegateTakePart() {
        let listener = session.delegate.headListener(for: self)
        if let listener { mutable.withLock { $0.settings.headListeners.insert(listener, at: 0) } }
    }

    typealias HeadListener = @Sendable (HTTPURLResponse) async -> ResponseDisposition

    /// - Parameter listener: Asked once in each attempt; at once, if a head is there.
    private func addHeadListener(_ listener: @escaping HeadListener) -> Self {
        let head = mutable.withLock { state in
            state.append(listener)
            return state.attempt.head
        }
        if let head { Task { await ask([listener], about: head) } }
        return self
    }

    /// Decides on a response whose head has arrived. Called wherever the transport reads the network.
    ///
    /// - Parameter control: That of the exchange. A decision that comes too late must not reach the next attempt.
    /// - Returns: The decision, and what asks the listeners, if there are any.
    func decide(on head: ResponseHead, in control: ExchangeControl) -> (HeadDecision, asking: HopDriver.Work?) {
        guard mutable.withLock({ $0.attempt.control === control }) else { return (.refuse(CancellationError()), nil) }
        let decision = sink.decide(on: head, for: self)
        guard case .take = decision else { return (decision, nil) }
        return (decision, receiveHead(head))
    }

    /// Whether a listener has ended the request at the head. Then no bytes of the body are handed on.
    var isRefusedAtHead: Bool { mutable.withLock { $0.attempt.isRefusedAtHead } }

    /// Keeps the head. Whoever comes later finds it.
    ///
    /// - Returns: What asks all who want to know, unless they were asked in this attempt; to be run in a task of the request's.
    func receiveHead(_ head: ResponseHead) -> HopDriver.Work? {
        let (listeners, answer) = mutable.withLock { state -> ([HeadListener], Deferred<Void>?) in
            let isNew = state.attempt.head == nil
            state.attempt.head = head
            guard isNew, !state.settings.headListeners.isEmpty else { return ([], nil) }
            let answer = Deferred<Void>()
            state.attempt.headDecided = answer
            return (state.settings.headListeners, answer)
        }
        guard let answer else { return nil }
        let question = HeadQuestion(answer)
        return { [self] in
            await ask(listeners, about: head)
            question.answer.fulfil(())
        }
    }

    /// Fulfilled when all listeners have answered, or the request was ended from outside; nil without listeners.
    var headDecided: Deferred<Void>? { mutable.withLock { $0.attempt.headDecided } }

    private func ask(_ listeners: [HeadListener], about head: ResponseHead) async {
        guard let response = head.httpURLResponse else { return }
        for listener in listeners {
            let disposition = await listener(response)
            // Whoever ended the request has said why.
            if !Task.isCancelled, case .cancel = disposition { cancel() }
            guard mutable.withLock({ $0.noteRefusal() }) == false else { return }
        }
    }
}

extension RequestState {
    /// Notes whether the request was ended while somebody was asked about the head. Returns that.
    fileprivate mutating func noteRefusal() -> Bool {
        attempt.isRefusedAtHead = end != nil
        return attempt.isRefusedAtHead
    }

    fileprivate mutating func append(_ listener: @escaping Request.HeadListener) {
        guard !handlers.isOver else { return }
        settings.headListeners.append(listener)
    }
}

/// A question about a head, for which the request waits. When nobody comes to ask it, there is nothing to wait for.
private final class HeadQuestion: Sendable {
    let answer: Deferred<Void>

    init(_ answer: Deferred<Void>) { self.answer = answer }

    deinit { answer.fulfil(()) }
}
