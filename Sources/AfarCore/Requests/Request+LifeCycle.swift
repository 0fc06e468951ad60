import Foundation

extension Request {
    /// Starts or resumes the request. A cancelled or finished request stays as it is.
    @discardableResult
    public func resume() -> Self {
        let waiting = mutable.withLock { state in move(&state, to: .resumed) ? state.waiting.take() : nil }
        alignControl()
        waiting?.resume()
        startPipeline()
        return self
    }

    /// Holds the request where it is. One that has not been sent will wait; one in flight stops reading and sending
    /// where the transport can do that.
    @discardableResult
    public func suspend() -> Self {
        mutable.withLock { _ = move(&$0, to: .suspended) }
        alignControl()
        return self
    }

    /// Suspends or resumes the exchange as the request's state has it. Calls from several threads may overtake each
    /// other, so each looks again when it has done something.
    func alignControl() {
        while true {
            let (control, isSuspended) = mutable.withLock { ($0.attempt.control, $0.state == .suspended) }
            guard let control, control.isSuspended != isSuspended else { return }
            if isSuspended { control.suspend() } else { control.resume() }
        }
    }

    /// Ends the request for good, with an error. Does nothing to one that is finished.
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

    /// Ends the request from the session's side. Does nothing to one that is cancelled or finished.
    func end(with error: AFError) {
        let ending = mutable.withLock { state in
            guard state.isActive else { return nil as RequestState.Ending? }
            state.end = error
            return state.takeEnding()
        }
        ending?.perform()
    }

    /// Starts the one task of this request, once.
    func startPipeline() {
        let hasOptions = mutable.withLock { state -> Bool? in
            guard !state.isStarted else { return nil }
            state.startTime = Date.timeIntervalSinceReferenceDate
            return state.settings.options != nil
        }
        guard let hasOptions else { return }
        if let end = session.start(self) { self.end(with: end) }
        if hasOptions { keepDeadline() }
        if session.delegate.takesPart(in: self) { letDelegateTakePart() }
        RequestPipeline(self).start(
            atOnce: isPlain && !isIntercepted && session.queues.request == nil && !stack.hasUserStages)
    }

    /// Whether the request was ended from outside: nothing is to be handed on any more.
    var hasEnded: Bool { mutable.withLock { $0.end != nil } }

    /// Throws the error that the request was ended with from outside.
    func checkEnd() throws(AFError) {
        if let end = mutable.withLock({ $0.end }) { throw end }
    }

    /// Whether the request is not to be sent yet.
    var mustWait: Bool { mutable.withLock { $0.mustWait } }

    /// Returns once the request is to run: at once, or when it is resumed or ended.
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
