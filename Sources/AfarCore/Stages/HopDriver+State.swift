extension HopDriver {
    /// A stage that takes part, and the hop as that stage sees it.
    struct Level {
        let stage: Int
        let run: any StageRun
        var hop: Hop
    }

    /// The way of a hop through the stages.
    struct Route {
        /// The stages that take part, the outermost first.
        private(set) var levels: [Level] = []
        /// How many of them know of the hop.
        private var informed = 0
        /// The hop as these have left it.
        private(set) var hop: Hop
        /// Whether time has passed since the total timeout began.
        var hasBegun = false

        init(_ hop: Hop) { self.hop = hop }

        /// The next stage that does not know of the hop; it takes part from now on.
        mutating func nextLevel(of stages: [any ExchangeStage]) -> Level? {
            if informed == levels.count {
                var stage = levels.last.map { $0.stage + 1 } ?? 0
                while stage < stages.count {
                    if let run = stages[stage].begin(hop.exchange) {
                        levels.append(Level(stage: stage, run: run, hop: hop))
                        break
                    }
                    stage += 1
                }
                guard informed < levels.count else { return nil }
            } else {
                levels[informed].hop = hop
            }
            informed += 1
            return levels[informed - 1]
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

    struct State {
        var route: Route
        /// What was measured in the hops before.
        var report = TransportReport()
        /// The response that was judged last, and what a stage wants done when it has ended.
        var judged: ResponseHead?
        var decision: (Disposition, level: Int)?
        var running: (any PreparedExchange)?
        var isCancelled = false
        /// Whether it is open yet who is to see what comes: the exchange's observer, or nobody.
        var isHolding = false
        /// How much has come meanwhile, and was expected.
        var held: (bytes: Int64, expected: Int64?)?
        /// What the owner has not been told.
        var events: [Event] = []
        var receive: (@Sendable (Event) -> Void)?

        /// Has another hop begin at a stage.
        mutating func begin(_ next: Hop, at level: Int) -> [Level] {
            (judged, decision, isHolding, held) = (nil, nil, false, nil)
            return route.begin(next, at: level)
        }
    }
}
