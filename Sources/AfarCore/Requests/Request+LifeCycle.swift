import Foundation

extension Request {
    /// Starts or resumes the request. Does nothing if the request is canceled or finished.
    @discardableResult
    public func resume() -> Self {
        let waiting = mutable.withLock { state in move(&state, to: .resumed) ? state.waiting.take() : nil }
        applySuspension()
        waiting?.resume()
        startPipeline()
        return self
    }

    /// Suspends the request. A request that hasn't been sent waits. A request in progress stops reading and sending, provided
    /// that the transport supports this.
    @discardableResult
    public func suspend() -> Self {
        mutable.withLock { _ = move(&$0, to: .suspended) }
        applySuspension()
        return self
    }

    /// Suspends or resumes the exchange according to the request's state. Concurrent calls can overtake each other, so each call
    /// checks the state again after it has changed the exchange.
    func applySuspension() {
        while true {
            let (control, isSuspended) = mutable.withLock { ($0.attempt.control, $0.state == .suspended) }
            guard let control, control.isSuspended != isSuspended else { return }
            if isSuspended { control.suspend() } else { control.resume() }
        }
    }

    /// Ends the request permanently with an error. Does nothing if the request has finished.
    func cancel(because error: AFError) {
        let ending = mutable.withLock { state in
            guard move(&state, to: .cancelled) else { return nil as RequestState.Ending? }
            state.end = error
            return state.takeEnding()
        }
        guard let ending else { return }
        ending.perform()
        startPipeline()
    }

    /// Ends the request on behalf of its session. Does nothing if the request is canceled or finished.
    func end(with error: AFError) {
        let ending = mutable.withLock { state in
            guard state.isActive else { return nil as RequestState.Ending? }
            state.end = error
            return state.takeEnding()
        }
        ending?.perform()
    }

    /// Starts the request's task if it hasn't started.
    func startPipeline() {
        let hasOptions = mutable.withLock { state -> Bool? in
            guard !state.isStarted else { return nil }
            state.startTime = Date.timeIntervalSinceReferenceDate
            return state.settings.options != nil
        }
        guard let hasOptions else { return }
        if let end = session.start(self) { self.end(with: end) }
        if hasOptions { scheduleDeadline() }
        if session.delegate.participates(in: self) { addDelegateListener() }
        RequestPipeline(self).start(
            immediately: isPlain && !isIntercepted && session.queues.request == nil && !stack.hasUserStages)
    }

    /// Whether the request was canceled or ended by its session. After that, nothing more is delivered.
    var hasEnded: Bool { mutable.withLock { $0.end != nil } }

    /// Throws an error if the request was canceled or ended by its session.
    func checkEnd() throws(AFError) {
        if let end = mutable.withLock({ $0.end }) { throw end }
    }

    var mustWait: Bool { mutable.withLock { $0.mustWait } }

    /// Waits until the request is resumed or ended. Returns immediately if the request isn't waiting.
    func waitUntilResumed() async {
        guard mustWait else { return }
        await withUnsafeContinuation { waiting in
            let mustWait = mutable.withLock { state in
                if state.mustWait { state.waiting = waiting }
                return state.mustWait
            }
            if !mustWait { waiting.resume() }
        }
    }
}
