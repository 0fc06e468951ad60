import HTTPTypes

extension HopDriver {
    /// A stage that takes part in the exchange, and the hop as that stage received it.
    struct Level {
        let stage: Int
        let run: any StageRun
        var hop: Hop
    }

    /// The path of a hop through the stages.
    struct HopPath {
        /// The number of stages that take part in most exchanges: redirects and cookies.
        private static let usualCount = 2

        /// The stages that take part, outermost first.
        var levels: [Level] = []
        /// The number of stages in `levels` that have received the hop.
        private var receivedCount = 0
        /// The hop, with the changes made by the stages that have received it.
        private(set) var hop: Hop
        /// Whether part of the total timeout may have passed, so that the time left must be checked before sending.
        var hasBegun = false

        init(_ hop: Hop) { self.hop = hop }

        /// Calls the next stage that hasn't received the hop, and adds it to `levels`. Returns nil if all stages have received
        /// it.
        mutating func callNext(_ stages: [any ExchangeStage]) -> Reply<RequestAction>? {
            if receivedCount == levels.count {
                if levels.isEmpty { levels.reserveCapacity(Self.usualCount) }
                var stage = levels.last.map { $0.stage + 1 } ?? 0
                while stage < stages.count, receivedCount == levels.count {
                    if let run = stages[stage].begin(hop) { levels.append(Level(stage: stage, run: run, hop: hop)) }
                    stage += 1
                }
                guard receivedCount < levels.count else { return nil }
            } else {
                levels[receivedCount].hop = hop
            }
            receivedCount += 1
            return levels[receivedCount - 1].run.before(hop)
        }

        /// Replaces the exchange of the hop for the stages that follow.
        mutating func change(to exchange: Exchange) { hop = Hop(exchange, after: hop, because: hop.reason) }

        /// Starts another hop at a stage. The stages after that stage begin again.
        ///
        /// - Returns: The stages whose part in the previous hop has ended.
        mutating func begin(_ next: Hop, at level: Int) -> [Level] {
            let ended = Array(levels[level...])
            levels.removeLast(ended.count - 1)
            (hop, receivedCount) = (next, level)
            return ended
        }
    }

    /// The data that the last steps require after an exchange has ended.
    struct End {
        let levels: [Level]
        /// The measurements of the hops before the last one; nil if empty.
        let report: TransportReport?
        /// The events that weren't delivered to the owner and are no longer needed.
        let events: [Event]
    }

    /// A response whose head has arrived.
    struct ReceivedHead {
        let head: ResponseHead
        /// The action that a stage requested for the end of the response, if any.
        var action: (ResponseAction, level: Int)?
    }

    struct State {
        var path: HopPath
        var report = TransportReport()
        /// The level of the redirect stage, which is known after the first redirect.
        private var redirectLevel = 0
        var lastHead: ReceivedHead?
        /// The earlier responses of this hop, if a transport that wraps another one received several.
        var earlierHeads: [ReceivedHead] = []
        var running: (any PreparedExchange)?
        var isCancelled = false
        var hasEnded = false
        var reportedHead: ResponseHead?
        /// Whether progress is held back, because the response's head hasn't been reported to the observer.
        var holdsProgress = false
        var heldProgress: (bytes: Int64, expected: Int64?)?
        /// The events that haven't been delivered to the owner.
        private var events: [Event] = []
        /// Work for the decision about the final head. It is delivered even after the exchange has ended.
        private var guaranteedEvents: [Event] = []
        /// The result of the exchange, which is delivered last.
        private var result: Result<TransportResponse, any Error>?
        /// Whether the owner has received the result and takes no more events.
        private var isDelivered = false
        /// The owner's continuation while it waits for an event.
        private var waiter: UnsafeContinuation<Void, Never>?

        init(_ hop: Hop) { path = HopPath(hop) }

        mutating func note(_ head: ResponseHead) {
            if let lastHead { earlierHeads.append(lastHead) }
            lastHead = ReceivedHead(head: head)
        }

        /// Records the action that a stage requested, if the response belongs to the current hop.
        mutating func note(_ action: ResponseAction, of level: Int, about head: ResponseHead) {
            if lastHead?.head === head {
                lastHead?.action = (action, level)
            } else if let index = earlierHeads.firstIndex(where: { $0.head === head }) {
                earlierHeads[index].action = (action, level)
            }
        }

        var hasHead: Bool { lastHead != nil }

        func isCurrent(_ head: ResponseHead) -> Bool {
            !hasEnded && (lastHead?.head === head || earlierHeads.contains { $0.head === head })
        }

        func action(for head: ResponseHead) -> (ResponseAction, level: Int)? {
            if let lastHead, lastHead.head === head || earlierHeads.isEmpty { return lastHead.action }
            let known = earlierHeads.first { $0.head === head } ?? earlierHeads.first { $0.head.isLike(head) }
            return (known ?? lastHead)?.action
        }

        mutating func end() -> End {
            // Release the hop, which retains the driver.
            defer { (path, events, hasEnded) = (HopPath(.none), [], true) }
            return End(levels: path.levels, report: report.isEmpty ? nil : report, events: events)
        }

        // MARK: Events

        mutating func takeEvent() -> Event? {
            if !guaranteedEvents.isEmpty { return guaranteedEvents.removeFirst() }
            if !events.isEmpty { return events.removeFirst() }
            guard let result = result.take() else { return nil }
            isDelivered = true
            return .ended(result)
        }

        /// Returns the owner's continuation if the owner waits for an event.
        mutating func post(_ result: Result<TransportResponse, any Error>) -> UnsafeContinuation<Void, Never>? {
            self.result = result
            return waiter.take()
        }

        /// Returns the owner's continuation if the owner waits for an event.
        mutating func post(_ event: Event, isGuaranteed: Bool) -> UnsafeContinuation<Void, Never>? {
            if isGuaranteed {
                if !isDelivered { guaranteedEvents.append(event) }
            } else if !hasEnded {
                events.append(event)
            }
            return waiter.take()
        }

        /// Stores the owner's continuation. Returns false if an event is available and the owner must not wait.
        mutating func wait(_ owner: UnsafeContinuation<Void, Never>) -> Bool {
            guard guaranteedEvents.isEmpty, events.isEmpty, result == nil else { return false }
            waiter = owner
            return true
        }

        // MARK: Redirects

        /// Records a redirect. If a stage outside the redirect stage sends another request, removes the recorded redirects instead,
        /// because redirects start over.
        mutating func noteFollowing(_ reason: ResponseAction.Reason, of level: Int) {
            if case .redirect(let redirect) = reason {
                report.redirects.append(redirect)
                redirectLevel = level
            } else if level < redirectLevel {
                report.redirects = []
            }
        }

        /// Starts another hop at a stage.
        mutating func begin(_ next: Hop, at level: Int) -> [Level] {
            (lastHead, earlierHeads, reportedHead, holdsProgress, heldProgress) = (nil, [], nil, false, nil)
            return path.begin(next, at: level)
        }
    }
}

extension ResponseHead {
    /// Returns whether another head has the same status, location and challenges. A wrapping transport can change other fields.
    func isLike(_ other: ResponseHead) -> Bool {
        self === other
            || status == other.status && values(for: .location) == other.values(for: .location)
                && values(for: .wwwAuthenticate) == other.values(for: .wwwAuthenticate)
    }
}

// MARK: - Reports

extension TransportReport {
    /// Whether the report contains no measurements.
    var isEmpty: Bool { transactions.isEmpty && redirects.isEmpty }

    func followed(by error: any Error) -> any Error {
        guard var error = error as? TransportError else { return error }
        var whole = self
        whole.append(error.report)
        error.report = whole
        return error
    }

    /// Returns the report of a hop that isn't the last one, with its request and response.
    func describing(_ hop: Hop, _ response: ResponseHead?) -> TransportReport {
        guard let last = transactions.indices.last, transactions[last].heads == nil else { return self }
        var copy = self
        copy.transactions[last].heads = TransactionHeads(request: hop.exchange.request, response: response)
        return copy
    }
}

extension TransportResponse {
    func prependingReport(_ report: TransportReport) -> TransportResponse {
        var response = self
        if case .stream(let stream) = body { stream.prependReport(report) }
        response.report = report
        response.report.append(self.report)
        return response
    }
}
