extension HopDriver {
    /// A stage that takes part, and the hop as that stage sees it.
    struct Level {
        let stage: Int
        var run: any StageRun
        var hop: Hop
    }

    struct State {
        /// The stages that take part, the outermost first.
        var levels: [Level] = []
        /// How many of them know of the hop.
        var informed = 0
        /// The hop as the stages have left it.
        var hop: Hop
        /// Counts the hops: what comes of one that is over is nobody's.
        var number = 0
        /// Whether time has passed since the total timeout began.
        var hasBegun = false
        /// What was measured in the hops before.
        var report = TransportReport()
        /// The response of this hop that was judged last, and what a stage wants done when it has ended.
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

        init(hop: Hop) { self.hop = hop }

        /// The next stage that does not know of the hop; it takes part from now on.
        mutating func nextLevel(of stages: [any ExchangeStage]) -> (Int, Level)? {
            if informed == levels.count {
                for stage in stages.indices.dropFirst(levels.last.map { $0.stage + 1 } ?? 0) {
                    guard let run = stages[stage].begin(hop.exchange) else { continue }
                    levels.append(Level(stage: stage, run: run, hop: hop))
                    break
                }
            }
            guard informed < levels.count else { return nil }
            levels[informed].hop = hop
            return (informed, levels[informed])
        }

        /// Ends the hop, and has another begin at a stage. Those after that begin anew.
        ///
        /// - Returns: The stages whose part is over.
        mutating func begin(_ next: Hop, at level: Int) -> [Level] {
            let over = Array(levels[level...])
            levels.removeLast(over.count - 1)
            (hop, informed) = (next, level)
            number += 1
            (judged, decision, isHolding, held) = (nil, nil, false, nil)
            return over
        }
    }
}
