/// When the indicator is to be seen. A value without any time: it says when to wait, and is told when the wait is over.
struct IndicatorState: Equatable, Sendable {
    /// Where the indicator is.
    enum Phase: Equatable, Sendable {
        case notActive
        /// There are requests, perhaps not for long enough to show anything.
        case delayingStart
        case active
        /// There are no requests, perhaps not for long enough to hide what is shown.
        case delayingCompletion
    }

    private(set) var phase = Phase.notActive
    private(set) var count = 0

    /// Whether the indicator is to be seen.
    var isVisible: Bool { phase == .active || phase == .delayingCompletion }

    /// A request has begun.
    mutating func begin() {
        count += 1
        switch phase {
        case .notActive: phase = .delayingStart
        case .delayingCompletion: phase = .active
        case .delayingStart, .active: break
        }
    }

    /// A request is over. One that was never begun changes nothing.
    mutating func end() {
        guard count > 0 else { return }
        count -= 1
        guard count == 0 else { return }
        switch phase {
        case .delayingStart: phase = .notActive
        case .active: phase = .delayingCompletion
        case .notActive, .delayingCompletion: break
        }
    }

    /// What was waited for in this phase is over.
    mutating func delayDidEnd() {
        switch phase {
        case .delayingStart: phase = .active
        case .delayingCompletion: phase = .notActive
        case .notActive, .active: break
        }
    }
}
