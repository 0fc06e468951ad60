import Foundation

/// Brings an exchange to its end, through the stages and over the transport, in as many hops as it takes.
///
/// It calls each stage before a request is sent, and at the response's head, where the body can still be discarded. It
/// owns what all hops have in common: the total timeout, the report, the observer and cancellation. It never waits itself:
/// its owner runs the work that takes time.
package final class HopDriver: Sendable {
    /// Work that takes time, or user code.
    package typealias Work = @Sendable () async -> Void

    /// What the owner has to do next.
    package enum Event: Sendable {
        /// Run this in a task of the request's, beside the exchange. There may be several at once.
        case run(Work)
        case ended(Result<TransportResponse, any Error>)
    }

    /// Decides about the response that is to be the exchange's. It may give something to be waited for, too, beside the
    /// exchange.
    package typealias FinalDecision = @Sendable (ResponseHead) -> (HeadDecision, asking: Work?)

    /// The longest body that is read only to keep the connection.
    private static let longestBodyToSkip: Int64 = 64 * 1024

    private let stages: [any ExchangeStage]
    private let transport: ExchangeSender
    private let decideFinally: FinalDecision
    private let observer: (any ExchangeObserver)?
    private let state: InlineLocked<State>

    /// - Parameter decide: Called at the head of each response that all stages pass, on the thread that reads the network.
    package init(
        _ hop: Hop, through stages: [any ExchangeStage], over transport: ExchangeSender, decide: @escaping FinalDecision
    ) {
        self.stages = stages
        self.transport = transport
        decideFinally = decide
        observer = hop.observer
        state = InlineLocked(State(hop))
    }

    /// Sends the exchange, and returns its response. To be called once. ``cancel()`` ends it, a cancelled task does not.
    ///
    /// - Parameter run: Runs work in a task that is cancelled when the exchange has ended.
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

    /// The next event, once there is one. To be called again after each but the last.
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
    /// - Parameter isOwed: Whether it is delivered even if the exchange has ended before the owner takes it.
    private func post(_ event: Event, isOwed: Bool = false) {
        state.withLock { $0.post(event, isOwed: isOwed) }?.resume()
    }

    /// Ends the exchange, at whatever stage it is. What the owner runs for it has to be cancelled as well.
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
        var route = state.withLock { $0.route }
        while let reply = route.inform(stages) {
            switch reply {
            case .now(.send): break
            case .now(.change(let exchange)): route.change(to: exchange)
            case .now(let action):
                state.withLock { $0.route = route }
                return end(with: action)
            case .wait(let work):
                route.hasBegun = true
                state.withLock { $0.route = route }
                return post(.run { [self] in resume(after: await work()) })
            }
        }
        send(over: route)
    }

    private func resume(after action: RequestAction) {
        switch action {
        case .send: break
        case .change(let exchange): state.withLock { $0.route.change(to: exchange) }
        default: return end(with: action)
        }
        advance()
    }

    /// A stage has decided not to send the hop. Neither it nor the stages after it are asked again.
    private func end(with action: RequestAction) {
        let count = state.withLock { $0.route.levels.count } - 1
        switch action {
        case .send, .change: break
        case .answer(let response): take(response, before: count)
        case .fail(let error): fail(with: error, before: count)
        }
    }

    /// Saves the route of a hop that is not sent: its stages have begun, and are notified when it ends.
    private func note(_ route: Route) { state.withLock { $0.route = route } }

    private func send(over route: Route) {
        let hop = route.hop
        hop.send(decidingBy: { [self] head in decide(on: head) }, observedBy: observer.map { _ in self })
        if route.hasBegun, !hop.grantTimeLeft() {
            note(route)
            return complete(.failure(hop.timeout))
        }
        var prepared: (any PreparedExchange)?
        if case .callback(let transport) = transport {
            do { prepared = try transport.prepare(hop) } catch {
                note(route)
                return arrive(.failure(error))
            }
        }
        let isCancelled = state.withLock { state in
            state.route = route
            state.route.hasBegun = true
            // What is not started holds the hop, and that the driver.
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
            // Nobody but the stages knows what they require.
            do { try transport.capabilities.check(hop.exchange) } catch { return arrive(.failure(error)) }
            post(.run { [self] in arrive(await AwaitedExchange(hop.exchangeToSend).result(of: transport)) })
        }
    }

    // MARK: The head

    /// What is done with a response whose head has come.
    private func decide(on head: ResponseHead) -> HeadDecision {
        let levels = state.withLock { state in
            state.note(head)
            return state.route.levels
        }
        return decide(on: head, by: levels[...])
    }

    /// Asks the stages, the innermost first, and then the judge.
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
                        // It may be over, by a timeout say.
                        guard state.withLock({ $0.knows(head) }) else { return }
                        if case .pass = action {
                            pending.give(decide(on: head, by: levels[..<index]))
                        } else {
                            pending.give(headDecision(after: action, of: index, about: head))
                        }
                    })
                return .ask(pending)
            }
        }
        if let observer { show(head, to: observer) }
        let (decision, asking) = decideFinally(head)
        if let asking { post(.run(asking), isOwed: true) }
        return decision
    }

    /// Notes what a stage wants, which is done when the response has ended.
    private func headDecision(after action: ResponseAction, of level: Int, about head: ResponseHead) -> HeadDecision {
        state.withLock { $0.note(action, of: level, about: head) }
        if case .fail = action { return .discard(upTo: 0) }
        return .discard(upTo: Self.longestBodyToSkip)
    }

    // MARK: The end of a hop

    private func arrive(_ result: Result<TransportResponse, any Error>) {
        guard case .success(let response) = result else {
            if case .failure(let error) = result {
                fail(with: error, before: state.withLock { $0.route.levels.count })
            }
            return
        }
        let (chosen, end) = state.withLock { state -> ((ResponseAction, level: Int)?, End?) in
            state.running = nil
            let chosen = state.action(for: response.head)
            return (chosen, chosen == nil ? state.end() : nil)
        }
        if let end { return complete(result, end) }
        if let (action, level) = chosen { perform(action, of: level, instead: response) }
    }

    private func perform(_ action: ResponseAction, of level: Int, instead response: TransportResponse) {
        response.body.abandon()
        let isCancelled = state.withLock { state in
            state.report.append(response.report.describing(state.route.hop, response.head))
            return state.isCancelled
        }
        switch action {
        case .pass: break
        case .replace(let other): take(other, before: level)
        case .fail(let error): complete(.failure(error))
        case .follow where isCancelled:
            complete(.failure(state.withLock { $0.route.hop }.cancellation))
        case .follow(let exchange, let reason):
            let over = state.withLock { state in
                state.noteFollowing(reason, of: level)
                return state.begin(Hop(exchange, after: state.route.levels[level].hop, because: reason), at: level)
            }
            for level in over { level.run.ended(level.hop, with: nil) }
            switch reason {
            case .redirect(let redirect): observer?.exchangeWillFollow(redirect)
            case .challenge: observer?.exchangeWillAnswerChallenge(in: response.head)
            case .validation: break
            }
            // In a task of the request's: a transport's code may be somebody's.
            post(.run { [self] in advance() })
        }
    }

    /// Takes a response of a stage's, after the stages before that have seen its head.
    private func take(_ response: TransportResponse, before level: Int) {
        let (levels, delivery) = state.withLock { state in
            state.note(response.head)
            return (state.route.levels[..<level], state.route.hop.exchange.delivery)
        }
        if observer != nil { exchangeDidReceiveHead(response.head) }
        let decision = decide(on: response.head, by: levels)
        guard case .ask(let pending) = decision else { return arrive(response.applying(decision, instead: delivery)) }
        pending.whenGiven { [self] decision in arrive(response.applying(decision, instead: delivery)) }
    }

    /// Asks the stages before one, the innermost first, whether a failure can be made good.
    private func fail(with error: any Error, before level: Int) {
        var error = error
        let levels = state.withLock { state in
            state.running = nil
            return state.isCancelled ? [] : state.route.levels[..<level]
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
            let over = state.withLock { state -> [Level]? in
                guard !state.isCancelled else { return nil }
                if let report { state.report.append(report.describing(state.route.hop, nil)) }
                return state.begin(state.route.levels[level].hop, at: level)
            }
            guard let over else { return complete(.failure(error)) }
            for level in over { level.run.ended(level.hop, with: .failure(error)) }
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
            case .success(let response): result = .success(response.preceded(by: report))
            case .failure(let error): result = .failure(report.followed(by: error))
            }
        }
        state.withLock { $0.post(result) }?.resume()
    }
}

/// The observer sees only the response that is the exchange's.
extension HopDriver: ExchangeObserver {
    package func exchangeDidReceiveInformational(_ head: ResponseHead) {
        observer?.exchangeDidReceiveInformational(head)
    }

    package func exchangeDidSend(bytes: Int64, expected: Int64?) {
        observer?.exchangeDidSend(bytes: bytes, expected: expected)
    }

    package func exchangeDidReceiveHead(_ head: ResponseHead) {
        let levels = state.withLock { state -> [Level]? in
            guard state.shown !== head else { return nil }
            (state.isHolding, state.held) = (true, nil)
            return state.route.levels
        }
        guard let levels, let observer else { return }
        let isWanted = levels.contains { level in
            if case .now(.pass) = level.run.head(head, of: level.hop) { false } else { true }
        }
        if !isWanted { show(head, to: observer) }
    }

    package func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        let isHolding = state.withLock { state in
            if state.isHolding { state.held = (bytes, expected) }
            return state.isHolding
        }
        if !isHolding { observer?.exchangeDidReceive(bytes: bytes, expected: expected) }
    }

    /// Lets the observer see a response, and what has come of it.
    private func show(_ head: ResponseHead, to observer: any ExchangeObserver) {
        let isNew = state.withLock { state in
            defer { state.shown = head }
            return state.isHolding && state.shown !== head
        }
        guard isNew else { return }
        observer.exchangeDidReceiveHead(head)
        // It goes on arriving meanwhile.
        while let (bytes, expected) = takeHeld() { observer.exchangeDidReceive(bytes: bytes, expected: expected) }
    }

    /// The progress that was withheld from the observer; when there is none, later progress is reported immediately.
    private func takeHeld() -> (bytes: Int64, expected: Int64?)? {
        state.withLock { state in
            defer { state.held = nil }
            if state.held == nil { state.isHolding = false }
            return state.held
        }
    }
}
