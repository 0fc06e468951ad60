import Foundation

/// Brings an exchange to its end, through the stages and over the transport, in as many hops as it takes.
///
/// It lets each stage see what is sent, and asks it at each response's head, where the body can still be left alone. It
/// owns what all hops have in common: the total timeout, the report, the observer, the cancel. It never waits itself: its
/// owner is told what there is to be waited for.
package final class HopDriver: Sendable {
    /// What the owner is told, one at a time.
    package enum Event: Sendable {
        /// Something takes time, or somebody else's code. It is to be run in a task of the request's, which is cancelled
        /// when the exchange has ended. There may be several at once.
        case waits(@Sendable () async -> Void)
        case ended(Result<TransportResponse, any Error>)
    }

    /// Decides about the response that is to be the exchange's.
    package typealias Judge = @Sendable (ResponseHead) -> HeadVerdict

    /// The longest body that is read only to keep the connection.
    private static let longestBodyToSkip: Int64 = 64 * 1024

    private let stages: [any ExchangeStage]
    private let transport: ExchangeSender
    private let judge: Judge
    private let observer: (any ExchangeObserver)?
    private let state: Locked<State>

    /// - Parameter judge: Called at the head of each response that no stage wants, wherever the transport reads the network.
    package init(
        _ exchange: Exchange, through stages: [any ExchangeStage], over transport: ExchangeSender,
        judge: @escaping Judge
    ) {
        self.stages = stages
        self.transport = transport
        self.judge = judge
        observer = exchange.observer
        state = Locked(State(route: Route(Hop(exchange))))
    }

    /// Begins; to be called once.
    package func start() { depart() }

    /// Has the next event told, at once if there is one. To be called again after each but the last.
    package func next(_ receive: @escaping @Sendable (Event) -> Void) {
        let event = state.withLock { state -> Event? in
            if !state.events.isEmpty { return state.events.removeFirst() }
            state.receive = receive
            return nil
        }
        if let event { receive(event) }
    }

    private func post(_ event: Event) {
        let receive = state.withLock { state -> (@Sendable (Event) -> Void)? in
            if state.receive == nil { state.events.append(event) }
            return state.receive.take()
        }
        receive?(event)
    }

    /// Ends the exchange, at whatever stage it is. What the owner runs for it has to be cancelled as well.
    package func cancel() {
        let running = state.withLock { state in
            state.isCancelled = true
            return state.running
        }
        running?.cancel()
    }

    // MARK: Setting out

    /// Lets the stages see the hop that do not know of it, and sends it.
    private func depart() {
        var route = state.withLock { $0.route }
        while let level = route.nextLevel(of: stages) {
            switch level.run.before(level.hop) {
            case .now(.send): break
            case .now(.change(let exchange)): route.change(to: exchange)
            case .now(let departure):
                state.withLock { [route] in $0.route = route }
                return end(with: departure)
            case .wait(let work):
                route.hasBegun = true
                state.withLock { [route] in $0.route = route }
                return post(.waits { [self] in goOn(after: await work()) })
            }
        }
        send(over: route)
    }

    private func goOn(after departure: Departure) {
        switch departure {
        case .send: break
        case .change(let exchange): state.withLock { $0.route.change(to: exchange) }
        default: return end(with: departure)
        }
        depart()
    }

    /// A stage has said that the hop is not sent. Neither is it asked again nor are those after it.
    private func end(with departure: Departure) {
        let levels = state.withLock { $0.route.levels.dropLast() }
        switch departure {
        case .send, .change: break
        case .answer(let response):
            state.withLock { $0.judged = response.head }
            arrive(response, after: judge(response.head, by: levels))
        case .fail(let error): fail(with: error, before: levels.count)
        }
    }

    private func send(over route: Route) {
        let hop = route.hop
        var exchange = hop.exchange
        exchange.verdict = { [self] head in judge(head) }
        if observer != nil { exchange.observer = self }
        if route.hasBegun {
            exchange.options.totalTimeout = hop.timeLeft / .seconds(1)
            guard exchange.options.totalTimeout > 0 else { return complete(.failure(hop.timeout)) }
        }
        let prepared: (any PreparedExchange)?
        switch transport {
        case .callback(let transport):
            do { prepared = try transport.prepare(exchange) } catch { return arrive(.failure(error)) }
        case .awaited: prepared = nil
        }
        let isCancelled = state.withLock { state in
            (state.route, state.running) = (route, prepared)
            state.route.hasBegun = true
            return state.isCancelled
        }
        guard !isCancelled else {
            return complete(.failure(hop.failure(.cancelled, "the exchange was cancelled")))
        }
        if let prepared {
            prepared.start { [self] result in arrive(result) }
        } else if case .awaited(let transport) = transport {
            post(.waits { [self, exchange] in arrive(await AwaitedExchange(exchange).result(of: transport)) })
        }
    }

    // MARK: The head

    /// What is done with a response whose head has come.
    private func judge(_ head: ResponseHead) -> HeadVerdict {
        let levels = state.withLock { state in
            (state.judged, state.decision) = (head, nil)
            return state.route.levels
        }
        return judge(head, by: levels[...])
    }

    /// Asks the stages, the innermost first, and then the judge.
    ///
    /// - Parameter isKnown: Whether the judge was asked about the response already, when it had another head.
    private func judge(_ head: ResponseHead, by levels: ArraySlice<Level>, isKnown: Bool = false) -> HeadVerdict {
        for index in levels.indices.reversed() {
            switch levels[index].run.head(head, of: levels[index].hop) {
            case .now(.pass): continue
            case .now(let disposition): return verdict(after: disposition, of: index, about: head)
            case .wait(let work):
                let pending = PendingVerdict()
                post(
                    .waits { [self] in
                        let disposition = await work()
                        if case .pass = disposition {
                            pending.give(judge(head, by: levels[..<index], isKnown: isKnown))
                        } else {
                            pending.give(verdict(after: disposition, of: index, about: head))
                        }
                    })
                return .ask(pending)
            }
        }
        guard !isKnown else { return .take() }
        if let observer { show(head, to: observer) }
        return judge(head)
    }

    /// Notes what a stage wants, which is done when the response has ended.
    private func verdict(after disposition: Disposition, of level: Int, about head: ResponseHead) -> HeadVerdict {
        state.withLock { if $0.judged === head { $0.decision = (disposition, level) } }
        if case .fail = disposition { return .discard(upTo: 0) }
        return .discard(upTo: Self.longestBodyToSkip)
    }

    // MARK: The end of a hop

    private func arrive(_ result: Result<TransportResponse, any Error>) {
        let (decision, judged, levels) = state.withLock { state in
            state.running = nil
            return (state.decision, state.judged, state.route.levels)
        }
        switch result {
        case .failure(let error): fail(with: error, before: levels.count)
        case .success(let response) where response.head !== judged:
            // A transport around the transport has made another of it, or has sent several.
            state.withLock { ($0.judged, $0.decision) = (response.head, nil) }
            arrive(response, after: judge(response.head, by: levels[...], isKnown: judged != nil))
        case .success(let response):
            guard let (disposition, level) = decision else { return complete(result) }
            perform(disposition, of: level, instead: response)
        }
    }

    /// Takes a response that was whole before it was judged.
    private func arrive(_ response: TransportResponse, after verdict: HeadVerdict) {
        switch verdict {
        case .ask(let pending): pending.whenGiven { [self] verdict in arrive(response, after: verdict) }
        case .refuse(let error):
            var failure = TransportError(refused: response.head.url, because: error)
            failure.report = response.report
            arrive(.failure(failure))
        case .take, .discard: arrive(.success(response))
        }
    }

    private func perform(_ disposition: Disposition, of level: Int, instead response: TransportResponse) {
        if case .stream(let stream) = response.body { stream.cancel() }
        state.withLock { $0.report.append(response.report) }
        switch disposition {
        case .pass: complete(.success(response))
        case .replace(let other): complete(.success(other))
        case .fail(let error): complete(.failure(error))
        case .follow(let exchange, let reason):
            let over = state.withLock { state in
                if case .redirect(let redirect) = reason { state.report.redirects.append(redirect) }
                return state.begin(Hop(exchange, after: state.route.levels[level].hop, because: reason), at: level)
            }
            for level in over { level.run.ended(level.hop, with: nil) }
            switch reason {
            case .redirect(let redirect): observer?.exchangeWillFollow(redirect)
            case .challenge: observer?.exchangeWillAnswerChallenge(in: response.head)
            }
            // In a task of the request's, as the first hop: a transport's code may be somebody's.
            post(.waits { [self] in depart() })
        }
    }

    /// Asks the stages before one, the innermost first, whether a failure can be made good.
    private func fail(with error: any Error, before level: Int) {
        var error = error
        let levels = state.withLock { $0.isCancelled ? [] : $0.route.levels[..<level] }
        for index in levels.indices.reversed() {
            switch levels[index].run.failed(error, of: levels[index].hop) {
            case .now(.fail(let failure)): error = failure
            case .now(let rescue): return perform(rescue, of: index, after: error)
            case .wait(let work):
                return post(
                    .waits { [self, error] in
                        let rescue = await work()
                        guard case .fail(let failure) = rescue else { return perform(rescue, of: index, after: error) }
                        fail(with: failure, before: index)
                    })
            }
        }
        complete(.failure(error))
    }

    private func perform(_ rescue: Rescue, of level: Int, after error: any Error) {
        switch rescue {
        case .fail(let failure): complete(.failure(failure))
        case .answer(let response): complete(.success(response))
        case .again:
            let over = state.withLock { state -> [Level]? in
                guard !state.isCancelled else { return nil }
                if let error = error as? TransportError { state.report.append(error.report) }
                return state.begin(state.route.levels[level].hop, at: level)
            }
            guard let over else { return complete(.failure(error)) }
            for level in over { level.run.ended(level.hop, with: .failure(error)) }
            post(.waits { [self] in depart() })
        }
    }

    private func complete(_ result: Result<TransportResponse, any Error>) {
        let (levels, report) = state.withLock { ($0.route.levels, $0.report) }
        for level in levels { level.run.ended(level.hop, with: result) }
        guard !report.transactions.isEmpty else { return post(.ended(result)) }
        switch result {
        case .success(let response): post(.ended(.success(response.preceded(by: report))))
        case .failure(let error): post(.ended(.failure(report.followed(by: error))))
        }
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
        state.withLock { ($0.isHolding, $0.held) = (true, nil) }
    }

    package func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        let isHolding = state.withLock { state in
            if state.isHolding { state.held = (bytes, expected) }
            return state.isHolding
        }
        if !isHolding { observer?.exchangeDidReceive(bytes: bytes, expected: expected) }
    }

    /// Lets the observer see a response that was held, and what comes of it.
    private func show(_ head: ResponseHead, to observer: any ExchangeObserver) {
        guard state.withLock({ $0.isHolding }) else { return }
        observer.exchangeDidReceiveHead(head)
        // It goes on arriving meanwhile.
        while let (bytes, expected) = takeHeld() { observer.exchangeDidReceive(bytes: bytes, expected: expected) }
    }

    /// What the observer has not been told yet; when there is nothing, it will be told everything at once.
    private func takeHeld() -> (bytes: Int64, expected: Int64?)? {
        state.withLock { state in
            defer { state.held = nil }
            if state.held == nil { state.isHolding = false }
            return state.held
        }
    }
}
