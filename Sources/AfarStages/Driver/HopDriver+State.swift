import HTTPTypes

extension HopDriver {
    /// A stage that takes part, and the hop as that stage sees it.
    struct Level {
        let stage: Int
        let run: any StageRun
        var hop: Hop
    }

    /// The way of a hop through the stages.
    struct Route {
        /// How many stages take part in most exchanges: redirects and cookies.
        private static let usualCount = 2

        /// The stages that take part, the outermost first.
        var levels: [Level] = []
        /// How many of them know of the hop.
        private var informed = 0
        /// The hop as these have left it.
        private(set) var hop: Hop
        /// Whether time has passed since the total timeout began.
        var hasBegun = false

        init(_ hop: Hop) { self.hop = hop }

        /// Asks the next stage that does not know of the hop, which takes part from now on; nil when all know.
        mutating func inform(_ stages: [any ExchangeStage]) -> Reply<RequestAction>? {
            if informed == levels.count {
                if levels.isEmpty { levels.reserveCapacity(Self.usualCount) }
                var stage = levels.last.map { $0.stage + 1 } ?? 0
                while stage < stages.count, informed == levels.count {
                    if let run = stages[stage].begin(hop) { levels.append(Level(stage: stage, run: run, hop: hop)) }
                    stage += 1
                }
                guard informed < levels.count else { return nil }
            } else {
                levels[informed].hop = hop
            }
            informed += 1
            return levels[informed - 1].run.before(hop)
        }

        /// A stage has made another request of it, for those after it.
        mutating func change(to exchange: Exchange) { hop = Hop(exchange, after: hop, because: hop.reason) }

        /// Has another hop begin at a stage. Those after that begin anew.
        ///
        /// - Returns: The stages whose part in the hop before is over.
        mutating func begin(_ next: Hop, at level: Int) -> [Level] {
            let over = Array(levels[level...])
            levels.removeLast(over.count - 1)
            (hop, informed) = (next, level)
            return over
        }
    }

    /// What is there to be done when all is over.
    struct End {
        let levels: [Level]
        /// What was measured in the hops before the last one; nil when nothing was.
        let report: TransportReport?
        /// The events that were not delivered to the owner, and are no longer needed.
        let events: [Event]
    }

    /// What is known of a response whose head has come.
    struct SeenHead {
        let head: ResponseHead
        /// What a stage wants done when the response has ended; nil when none wants anything.
        var action: (ResponseAction, level: Int)?
    }

    struct State {
        var route: Route
        /// What was measured in the hops before.
        var report = TransportReport()
        /// The stage that followed the last redirect.
        private var redirectLevel = 0
        /// The response of this hop that was judged last.
        var lastHead: SeenHead?
        /// Those before, where a transport around the transport has sent several.
        var earlierHeads: [SeenHead] = []
        var running: (any PreparedExchange)?
        var isCancelled = false
        var isOver = false
        /// The head that the observer has seen.
        var shown: ResponseHead?
        /// Whether it is open yet who is to see what comes: the exchange's observer, or nobody.
        var isHolding = false
        /// How much has come meanwhile, and was expected.
        var held: (bytes: Int64, expected: Int64?)?
        /// The events that were not yet delivered to the owner.
        private var events: [Event] = []
        /// What is asked about the final head, which is delivered even when all is over.
        private var owed: [Event] = []
        /// What the exchange came to; delivered last.
        private var result: Result<TransportResponse, any Error>?
        /// Whether the owner has the result, and takes no more events.
        private var isDelivered = false
        /// The owner, while it waits for an event.
        private var waiter: UnsafeContinuation<Void, Never>?

        init(_ hop: Hop) { route = Route(hop) }

        /// A head has come.
        mutating func note(_ head: ResponseHead) {
            if let lastHead { earlierHeads.append(lastHead) }
            lastHead = SeenHead(head: head)
        }

        /// Notes what a stage wants, if the response is still of interest.
        mutating func note(_ action: ResponseAction, of level: Int, about head: ResponseHead) {
            if lastHead?.head === head {
                lastHead?.action = (action, level)
            } else if let index = earlierHeads.firstIndex(where: { $0.head === head }) {
                earlierHeads[index].action = (action, level)
            }
        }

        func knows(_ head: ResponseHead) -> Bool {
            !isOver && (lastHead?.head === head || earlierHeads.contains { $0.head === head })
        }

        /// What is wanted about a response that is returned.
        func action(for head: ResponseHead) -> (ResponseAction, level: Int)? {
            if let lastHead, lastHead.head === head || earlierHeads.isEmpty { return lastHead.action }
            let known = earlierHeads.first { $0.head === head } ?? earlierHeads.first { $0.head.isLike(head) }
            return (known ?? lastHead)?.action
        }

        /// All is over.
        mutating func end() -> End {
            // The hop that was sent holds the driver.
            defer { (route, events, isOver) = (Route(.none), [], true) }
            return End(levels: route.levels, report: report.isEmpty ? nil : report, events: events)
        }

        // MARK: Events

        mutating func takeEvent() -> Event? {
            if !owed.isEmpty { return owed.removeFirst() }
            if !events.isEmpty { return events.removeFirst() }
            guard let result = result.take() else { return nil }
            isDelivered = true
            return .ended(result)
        }

        /// Returns the owner, if it waits for an event.
        mutating func post(_ result: Result<TransportResponse, any Error>) -> UnsafeContinuation<Void, Never>? {
            self.result = result
            return waiter.take()
        }

        /// Returns the owner, if it waits for an event.
        mutating func post(_ event: Event, isOwed: Bool) -> UnsafeContinuation<Void, Never>? {
            if isOwed { if !isDelivered { owed.append(event) } } else if !isOver { events.append(event) }
            return waiter.take()
        }

        /// Returns whether the owner has to wait, since there is no event.
        mutating func wait(_ owner: UnsafeContinuation<Void, Never>) -> Bool {
            guard owed.isEmpty, events.isEmpty, result == nil else { return false }
            waiter = owner
            return true
        }

        // MARK: Redirects

        /// Keeps a redirect. A stage outside of the redirects that sends another request begins before them.
        mutating func noteFollowing(_ reason: ResponseAction.Reason, of level: Int) {
            if case .redirect(let redirect) = reason {
                report.redirects.append(redirect)
                redirectLevel = level
            } else if level < redirectLevel {
                report.redirects = []
            }
        }

        /// Has another hop begin at a stage.
        mutating func begin(_ next: Hop, at level: Int) -> [Level] {
            (lastHead, earlierHeads, shown, isHolding, held) = (nil, [], nil, false, nil)
            return route.begin(next, at: level)
        }
    }
}

extension ResponseHead {
    /// Whether another head means the same to every stage. A transport around the transport may have changed the rest.
    func isLike(_ other: ResponseHead) -> Bool {
        self === other
            || status == other.status && values(for: .location) == other.values(for: .location)
                && values(for: .wwwAuthenticate) == other.values(for: .wwwAuthenticate)
    }
}
