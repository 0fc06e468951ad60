import Foundation

/// Sends an exchange through the stages and over the transport, in as many hops as necessary, until it completes.
///
/// The driver calls each stage before it sends a request, and when the response's head arrives, while the body can still be discarded. The
/// driver manages the state that all hops share: the total timeout, the report, the observer, and cancellation. The driver never waits,
/// because its owner runs slow work.
package final class HopDriver: Sendable {
    package typealias Work = Hop.Work

    /// The owner's next task.
    package enum Event: Sendable {
        /// Run this work in a task of the request, alongside the exchange. Several tasks can run at once.
        case run(Work)
        case ended(Result<TransportResponse, any Error>)
    }

    /// Decides how to handle the response that becomes the exchange's result. It can also return work to run alongside the exchange.
    package typealias FinalDecision = @Sendable (ResponseHead) -> (HeadDecision, handlerWork: Work?)

    /// The maximum size in bytes of a body that is read only to reuse the connection: 64 KiB.
    private static let longestBodyToSkip: Int64 = 64 * 1024

    private let stages: [any ExchangeStage]
    private let transport: ExchangeSender
    private let decideFinally: FinalDecision
    private let observer: (any ExchangeObserver)?
    private let state: InlineLocked<State>

    /// - Parameter decide: Called for the head of each response that all stages pass, on the thread that reads from the network.
    package init(
        _ hop: Hop, through stages: [any ExchangeStage], over transport: ExchangeSender, decide: @escaping FinalDecision
    ) {
        self.stages = stages
        self.transport = transport
        decideFinally = decide
        observer = hop.observer
        state = InlineLocked(State(hop))
    }

    /// Sends the exchange, and returns its response. Call this method only once. ``cancel()`` ends the exchange; canceling the
    /// task doesn't.
    ///
    /// - Parameter run: Runs work in a task that is canceled when the exchange has ended.
    nonisolated(nonsending) package func response(
        running run: (@escaping Work) -> Void
    ) async throws -> TransportResponse {
        advance()
        while true {
            switch await next() {
            case .run(let work): run(work)
            case .ended(let result): return try result.get()
            }
        }
    }

    /// Returns the next event, and waits for it if necessary. Call this method again after each event except the last one.
    nonisolated(nonsending) package func next() async -> Event {
        while true {
            if let event = state.withLock({ $0.takeEvent() }) { return event }
            await withUnsafeContinuation { waiter in
                let mustWait = state.withLock { $0.wait(waiter) }
                if !mustWait { waiter.resume() }
            }
        }
    }

    /// Adds an event.
    ///
    /// - Parameter isGuaranteed: Whether the event is delivered even if the exchange ends before the owner takes it.
    private func post(_ event: Event, isGuaranteed: Bool = false) {
        state.withLock { $0.post(event, isGuaranteed: isGuaranteed) }?.resume()
    }

    /// Ends the exchange in any state. The caller must also cancel the work that the owner runs for it.
    package func cancel() {
        let running = state.withLock { state in
            state.isCancelled = true
            return state.running
        }
        running?.cancel()
    }

    // MARK: Sending

    /// Passes the hop to the stages that have not received it, then sends it.
    package func advance() {
        var path = state.withLock { $0.path }
        while let reply = path.callNext(stages) {
            switch reply {
            case .now(.send): break
            case .now(.change(let exchange)): path.change(to: exchange)
            case .now(let action):
                state.withLock { $0.path = path }
                return end(with: action)
            case .wait(let work):
                path.hasBegun = true
                state.withLock { $0.path = path }
                return post(.run { [self] in resume(after: await work()) })
            }
        }
        send(over: path)
    }

    private func resume(after action: RequestAction) {
        switch action {
        case .send: break
        case .change(let exchange): state.withLock { $0.path.change(to: exchange) }
        default: return end(with: action)
        }
        advance()
    }

    /// Ends a hop that a stage decided not to send. The result isn't passed to that stage or to the stages after it.
    private func end(with action: RequestAction) {
        let count = state.withLock { $0.path.levels.count } - 1
        switch action {
        case .send, .change: break
        case .answer(let response): take(response, before: count)
        case .fail(let error): fail(with: error, before: count)
        }
    }

    /// Saves the path of a hop that isn't sent. The stages have begun, and must be notified when the hop ends.
    private func note(_ path: HopPath) { state.withLock { $0.path = path } }

    private func send(over path: HopPath) {
        let hop = path.hop
        hop.send(
            decidingBy: { [self] head in decide(on: head) }, observedBy: observer.map { _ in self },
            running: { [self] work in post(.run(work)) })
        if path.hasBegun, !hop.grantTimeLeft() {
            note(path)
            return complete(.failure(hop.timeout))
        }
        var prepared: (any PreparedExchange)?
        let transport = transport.sender(for: hop)
        if case .callback(let transport) = transport {
            do {
                // A transport that ignores the policy or the resolver would connect to any address.
                if hop.exchange.options.restrictsAddresses { try transport.capabilities.check(hop.exchange) }
                prepared = try transport.prepare(hop)
            } catch {
                note(path)
                return arrive(.failure(error))
            }
        }
        let isCancelled = state.withLock { state in
            state.path = path
            state.path.hasBegun = true
            // Don't store an exchange that won't start, because it indirectly retains the driver.
            if !state.isCancelled { state.running = prepared }
            return state.isCancelled
        }
        guard !isCancelled else {
            prepared?.cancel()
            return complete(.failure(hop.cancellation))
        }
        if let prepared {
            prepared.start { [self] result in arrive(result) }
        } else if case .awaited(let transport) = transport {
            // Check now, because stages can add requirements.
            do { try transport.capabilities.check(hop.exchange) } catch { return arrive(.failure(error)) }
            post(.run { [self] in arrive(await AwaitedExchange(hop.exchangeToSend).result(of: transport)) })
        }
    }

    // MARK: The head

    /// Records a head that has arrived, and decides how to handle its response.
    private func decide(on head: ResponseHead) -> HeadDecision {
        let levels = state.withLock { state in
            state.note(head)
            return state.path.levels
        }
        return decide(on: head, by: levels[...])
    }

    /// Calls the stages, innermost first, and then the final decision.
    private func decide(on head: ResponseHead, by levels: ArraySlice<Level>) -> HeadDecision {
        for index in levels.indices.reversed() {
            switch levels[index].run.head(head, of: levels[index].hop) {
            case .now(.pass): continue
            case .now(let action): return headDecision(after: action, of: index, about: head)
            case .wait(let work):
                let pending = PendingHeadDecision()
                post(
                    .run { [self] in
                        let action = await work()
                        // The exchange may have ended.
                        guard state.withLock({ $0.isCurrent(head) }) else { return }
                        if case .pass = action {
                            pending.fulfill(decide(on: head, by: levels[..<index]))
                        } else {
                            pending.fulfill(headDecision(after: action, of: index, about: head))
                        }
                    })
                return .deferred(pending)
            }
        }
        if let observer { reportHead(head, to: observer) }
        let (decision, handlerWork) = decideFinally(head)
        if let handlerWork { post(.run(handlerWork), isGuaranteed: true) }
        return decision
    }

    /// Records the action of a stage. The driver performs the action when the response has ended.
    private func headDecision(after action: ResponseAction, of level: Int, about head: ResponseHead) -> HeadDecision {
        state.withLock { $0.note(action, of: level, about: head) }
        if case .fail = action { return .discard(upTo: 0) }
        return .discard(upTo: Self.longestBodyToSkip)
    }

    // MARK: The end of a hop

    private func arrive(_ result: Result<TransportResponse, any Error>) {
        guard case .success(let response) = result else {
            if case .failure(let error) = result {
                fail(with: error, before: state.withLock { $0.path.levels.count })
            }
            return
        }
        let isConnection = if case .connection = response.body { true } else { false }
        let (chosen, end, hop) = state.withLock { state -> ((ResponseAction, level: Int)?, End?, withoutHead: Hop?) in
            guard isConnection || state.hasHead else { return (nil, nil, state.path.hop) }
            state.running = nil
            let chosen = state.action(for: response.head)
            return (chosen, chosen == nil ? state.end() : nil, nil)
        }
        if let hop {
            response.body.abandon()
            let message = "the transport returned a response without calling headArrived(_:) for its head"
            return arrive(.failure(hop.failure(.invalidUse, message)))
        }
        if let end { return complete(result, end) }
        if let (action, level) = chosen { perform(action, of: level, replacing: response) }
    }

    private func perform(_ action: ResponseAction, of level: Int, replacing response: TransportResponse) {
        response.body.abandon()
        let isCancelled = state.withLock { state in
            state.report.append(response.report.describing(state.path.hop, response.head))
            return state.isCancelled
        }
        switch action {
        case .pass: break
        case .replace(let other): take(other, before: level)
        case .fail(let error): complete(.failure(error))
        case .follow where isCancelled:
            complete(.failure(state.withLock { $0.path.hop }.cancellation))
        case .follow(let exchange, let reason):
            let ended = state.withLock { state in
                state.noteFollowing(reason, of: level)
                return state.begin(Hop(exchange, after: state.path.levels[level].hop, because: reason), at: level)
            }
            for level in ended { level.run.ended(level.hop, with: nil) }
            switch reason {
            case .redirect(let redirect): observer?.exchangeWillFollow(redirect)
            case .challenge: observer?.exchangeWillAnswerChallenge(in: response.head)
            case .validation: break
            }
            // Continue in a task of the request, because the next hop can call a custom transport.
            post(.run { [self] in advance() })
        }
    }

    /// Continues with a response that a stage provided. The stages before that stage first receive the response's head.
    private func take(_ response: TransportResponse, before level: Int) {
        let (levels, delivery) = state.withLock { state in
            state.note(response.head)
            return (state.path.levels[..<level], state.path.hop.exchange.delivery)
        }
        if observer != nil { exchangeDidReceiveHead(response.head) }
        let decision = decide(on: response.head, by: levels)
        guard case .deferred(let pending) = decision else {
            return arrive(response.applying(decision, deliveringTo: delivery))
        }
        pending.whenDecided { [self] decision in arrive(response.applying(decision, deliveringTo: delivery)) }
    }

    /// Passes a failure to the stages before a level, innermost first. A stage can recover from the failure.
    private func fail(with error: any Error, before level: Int) {
        var error = error
        let levels = state.withLock { state in
            state.running = nil
            return state.isCancelled ? [] : state.path.levels[..<level]
        }
        for index in levels.indices.reversed() {
            switch levels[index].run.failed(error, of: levels[index].hop) {
            case .now(.fail(let failure)): error = failure
            case .now(let action): return perform(action, of: index, after: error)
            case .wait(let work):
                return post(
                    .run { [self, error] in
                        let action = await work()
                        guard case .fail(let failure) = action else { return perform(action, of: index, after: error) }
                        fail(with: failure, before: index)
                    })
            }
        }
        complete(.failure(error))
    }

    private func perform(_ action: FailureAction, of level: Int, after error: any Error) {
        let report = (error as? TransportError)?.report
        switch action {
        case .fail(let failure): complete(.failure(failure))
        case .answer(let response):
            if let report { state.withLock { $0.report.append(report) } }
            take(response, before: level)
        case .again:
            let ended = state.withLock { state -> [Level]? in
                guard !state.isCancelled else { return nil }
                if let report { state.report.append(report.describing(state.path.hop, nil)) }
                return state.begin(state.path.levels[level].hop, at: level)
            }
            guard let ended else { return complete(.failure(error)) }
            for level in ended { level.run.ended(level.hop, with: .failure(error)) }
            post(.run { [self] in advance() })
        }
    }

    private func complete(_ result: Result<TransportResponse, any Error>) {
        complete(result, state.withLock { $0.end() })
    }

    private func complete(_ result: Result<TransportResponse, any Error>, _ end: End) {
        for level in end.levels { level.run.ended(level.hop, with: result) }
        var result = result
        if let report = end.report {
            switch result {
            case .success(let response): result = .success(response.prependingReport(report))
            case .failure(let error): result = .failure(report.followed(by: error))
            }
        }
        state.withLock { $0.post(result) }?.resume()
    }
}

/// Forwards events to the observer, except the heads and progress of responses that a stage handles, such as redirects.
extension HopDriver: ExchangeObserver {
    package func exchangeDidReceiveInformational(_ head: ResponseHead) {
        observer?.exchangeDidReceiveInformational(head)
    }

    package func exchangeDidSend(bytes: Int64, expected: Int64?) {
        observer?.exchangeDidSend(bytes: bytes, expected: expected)
    }

    package func exchangeDidReceiveHead(_ head: ResponseHead) {
        let levels = state.withLock { state -> [Level]? in
            guard state.reportedHead !== head else { return nil }
            (state.holdsProgress, state.heldProgress) = (true, nil)
            return state.path.levels
        }
        guard let levels, let observer else { return }
        let isHandledByStage = levels.contains { level in
            if case .now(.pass) = level.run.head(head, of: level.hop) { false } else { true }
        }
        if !isHandledByStage { reportHead(head, to: observer) }
    }

    package func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        let holdsProgress = state.withLock { state in
            if state.holdsProgress { state.heldProgress = (bytes, expected) }
            return state.holdsProgress
        }
        if !holdsProgress { observer?.exchangeDidReceive(bytes: bytes, expected: expected) }
    }

    /// Reports a response's head and the progress that was held back to the observer.
    private func reportHead(_ head: ResponseHead, to observer: any ExchangeObserver) {
        let isNew = state.withLock { state in
            defer { state.reportedHead = head }
            return state.holdsProgress && state.reportedHead !== head
        }
        guard isNew else { return }
        observer.exchangeDidReceiveHead(head)
        while let (bytes, expected) = takeHeldProgress() {
            observer.exchangeDidReceive(bytes: bytes, expected: expected)
        }
    }

    /// Returns the progress that was held back. If there is nothing to report, later progress is reported immediately.
    private func takeHeldProgress() -> (bytes: Int64, expected: Int64?)? {
        state.withLock { state in
            defer { state.heldProgress = nil }
            if state.heldProgress == nil { state.holdsProgress = false }
            return state.heldProgress
        }
    }
}
