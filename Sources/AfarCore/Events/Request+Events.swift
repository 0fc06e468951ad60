import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Request {
    /// Adds a monitor that observes this request's subsequent events. The monitor is notified after the session's monitors.
    @preconcurrency
    @discardableResult
    public func eventMonitor(_ eventMonitor: any EventMonitor) -> Self {
        isMonitored.store(true, ordering: .relaxed)
        let listener = CompositeEventMonitor.Listener(eventMonitor)
        mutable.release { state in
            let observers = state.makeObservers()
            let others = observers.monitor ?? session.listeners
            return Swift.exchange(&observers.monitor, with: CompositeEventMonitor(others, adding: listener))
        }
        return self
    }

    /// The monitors of this request, or nil if there are none.
    var events: CompositeEventMonitor? {
        guard isMonitored.load(ordering: .relaxed) || session.eventMonitor != nil else { return nil }
        return mutable.withLock { events(in: $0) }
    }

    /// Returns the monitors. The lock must be held.
    func events(in state: RequestState) -> CompositeEventMonitor? {
        state.observers?.monitor ?? session.eventMonitor
    }

    /// Notifies the monitors of an event that only one kind of request has. Does nothing for other kinds of requests.
    func notify<Kind: Request>(_: Kind.Type, _ event: (Kind) -> RequestEvent) {
        if let events, let request = self as? Kind { events.receive(event(request)) }
    }

    /// Moves the request to a state that the caller requested, notifies the monitors, and returns whether the state changed. The
    /// lock must be held, so that events keep their order.
    func move(_ state: inout RequestState, to other: State) -> Bool {
        guard state.move(to: other) else { return false }
        guard let events = events(in: state) else { return true }
        let task = state.attempt.control == nil ? nil : state.requestTasks(of: self).last
        switch other {
        case .resumed: events.receive(.requestDidResume(self))
        case .suspended: events.receive(.requestDidSuspend(self))
        case .cancelled: events.receive(.requestDidCancel(self))
        case .initialized, .finished: break
        }
        if let task { notify(events, of: task, in: other) }
        return true
    }

    func notify(_ events: CompositeEventMonitor, of task: URLSessionTask, in state: State) {
        switch state {
        case .resumed: events.receive(.requestDidResumeTask(self, task))
        case .suspended: events.receive(.requestDidSuspendTask(self, task))
        case .cancelled: events.receive(.requestDidCancelTask(self, task))
        case .initialized, .finished: break
        }
    }

    /// Notifies the monitors of the exchange's metrics and of its end.
    func didEndExchange(error: AFError?, isNetworkError: Bool) {
        guard let events, let task = lastTask else { return }
        let (metrics, networkError) = mutable.withLock { state in
            let isMeasured = state.history.attempts.count == state.history.performedRequests.count
            let networkError = (state.end ?? error)?.networkError
            state.attempt.sent?.error = state.end ?? error
            state.endTask(error: networkError)
            return (isMeasured ? state.history.attempts.last?.metrics : nil, networkError)
        }
        if let metrics {
            events.receive(.taskDidFinishCollectingMetrics(task, metrics))
            events.receive(.requestDidGatherMetrics(self, metrics))
        }
        if let error, !isNetworkError, !hasEnded { events.receive(.requestDidFailTask(self, task, error)) }
        events.receive(.taskDidComplete(task, networkError))
    }

    /// Notifies the monitors that an attempt has ended, if the attempt was sent.
    func didCompleteAttempt() {
        guard let events, let task = lastTask, let sent = mutable.withLock({ $0.attempt.sent.take() }) else { return }
        events.receive(.requestDidCompleteTask(self, task, sent.error))
    }

    /// Notifies the monitors of each chunk of a streamed body. Passes the chunk to the delegate's closure, or to `consume` if
    /// the delegate has no such closure.
    func forEachChunk(of body: ResponseBodyStream, _ consume: (Data) async -> Void) async throws {
        for try await chunk in body {
            await waitUntilResumed()
            guard !hasEnded else { continue }
            didReceive(chunk)
            if await !session.delegate.receive(chunk, of: self) { await consume(chunk) }
        }
    }

    /// Notifies the monitors of bytes of a response's body.
    func didReceive(_ data: Data) {
        guard let events, let task = lastTask as? URLSessionDataTask else { return }
        events.receive(.dataTaskDidReceiveData(task, data))
    }
}

extension SessionState {
    /// Combines all listeners: the delegate's closures, the notifications, the session's monitors, and the monitor from the
    /// environment.
    ///
    /// - Returns: The listeners, and whether there are monitors besides the delegate and the notifications. Those monitors
    ///   always need events. The delegate and the notifications need events only while they are observed.
    static func listeners(
        _ eventMonitors: [any EventMonitor], _ delegate: SessionDelegate, on rootQueue: DispatchQueue
    ) -> (CompositeEventMonitor, hasEventMonitors: Bool) {
        let eventMonitors = eventMonitors + [LoggingMonitor.environment].compactMap { $0 }
        let notifications =
            eventMonitors.contains { $0 is RequestNotifications } ? [] : [RequestNotifications.automatic]
        let listeners = CompositeEventMonitor(
            monitors: [DelegateEvents(delegate, on: rootQueue)] + notifications + eventMonitors)
        return (listeners, !eventMonitors.isEmpty)
    }

    /// The monitors of all requests, or nil if there are none.
    var eventMonitor: CompositeEventMonitor? {
        hasEventMonitors || delegate.isListening || RequestNotifications.canBeObserved ? listeners : nil
    }
}

/// Receives an exchange's events from the transport. Forwards them to the request's progress and to the event monitors.
final class ExchangeEvents: ExchangeObserver {
    /// The numbers that have already been reported to the monitors.
    private struct Reported {
        var bytesSent: Int64 = 0
        var bytesReceived: Int64 = 0
        var answeredChallengeCount = 0
    }

    private let request: Request
    private let events: CompositeEventMonitor?
    private let reported = InlineLocked(Reported())

    private init(of request: Request, events: CompositeEventMonitor?) {
        self.request = request
        self.events = events
    }

    /// Returns nil if no object observes the events.
    static func make(of request: Request) -> ExchangeEvents? {
        let events = request.events
        return events != nil || request.reportsProgress ? ExchangeEvents(of: request, events: events) : nil
    }

    func exchangeWillAnswerChallenge(in head: ResponseHead) {
        reportChallenge(in: head)
        reported.withLock { $0.answeredChallengeCount += 1 }
    }

    private func reportChallenge(in head: ResponseHead) {
        guard let events, let task = request.lastTask,
            let challenge = AuthenticationChallenge.challenges(in: head.values(for: .wwwAuthenticate)).first,
            let known = URLAuthenticationChallenge(
                challenge, in: head, proposing: request.credential,
                failures: reported.withLock { $0.answeredChallengeCount })
        else { return }
        events.receive(.taskDidReceiveChallenge(task, known))
    }

    func exchangeIsWaitingForConnectivity() {
        guard let events, let task = request.lastTask else { return }
        events.receive(.taskIsWaitingForConnectivity(task))
    }

    func exchangeDidReceiveInformational(_ head: ResponseHead) {
        guard let events, let response = head.httpURLResponse else { return }
        events.receive(.requestDidReceiveInformationalResponse(request, response))
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        if head.status == 401 { reportChallenge(in: head) }
        guard let events, events.hasQueuedListeners, let task = request.lastTask as? URLSessionDataTask,
            let response = head.httpURLResponse
        else {
            return
        }
        events.receive(.dataTaskDidReceiveResponse(task, response))
    }

    func exchangeWillFollow(_ redirect: Redirect) {
        request.didFollow(redirect)
        guard let events, let task = request.lastTask, let response = redirect.response.httpURLResponse,
            let newRequest = task.originalRequest?.following(redirect)
        else { return }
        events.receive(.taskWillPerformHTTPRedirection(task, response, newRequest: newRequest))
    }

    func exchangeDidSend(bytes: Int64, expected: Int64?) {
        request.didSend(bytes: bytes, expected: expected)
        guard let events, let task = request.lastTask, let newBytes = newBytes(\.bytesSent, bytes) else { return }
        events.receive(
            .taskDidSendBodyData(task, newBytes, totalBytesSent: bytes, totalBytesExpectedToSend: expected ?? -1))
    }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        request.didReceive(bytes: bytes, expected: expected)
        guard let events, let task = request.lastTask as? URLSessionDownloadTask,
            let newBytes = newBytes(\.bytesReceived, bytes)
        else { return }
        let before = request.bytesBefore
        events.receive(
            .downloadTaskDidWriteData(
                task, newBytes, totalBytesWritten: before + bytes,
                totalBytesExpectedToWrite: expected.map { before + $0 } ?? -1))
    }

    /// Returns the number of bytes since the last report, or nil if there are none. If the count starts again, for example after
    /// a redirect, all bytes are new.
    private func newBytes(_ direction: WritableKeyPath<Reported, Int64>, _ bytes: Int64) -> Int64? {
        let newBytes = reported.withLock { reported in
            let last = reported[keyPath: direction]
            reported[keyPath: direction] = bytes
            return bytes < last ? bytes : bytes - last
        }
        return newBytes > 0 ? newBytes : nil
    }
}
