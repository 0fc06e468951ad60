import Testing

@testable import AfarNetworkActivity

/// The visibility of the indicator, tested without timers.
@Suite struct IndicatorStateTests {
    private enum Step {
        case begin
        case end
        case wait
    }

    private static func state(_ steps: Step...) -> IndicatorState {
        steps.reduce(into: IndicatorState()) { state, step in
            switch step {
            case .begin: state.begin()
            case .end: state.end()
            case .wait: state.delayDidEnd()
            }
        }
    }

    @Test func aLongRequestIsShownAndHidden() {
        #expect(Self.state().phase == .notActive)
        #expect(Self.state(.begin).phase == .delayingStart)
        #expect(!Self.state(.begin).isVisible)
        #expect(Self.state(.begin, .wait).phase == .active)
        #expect(Self.state(.begin, .wait).isVisible)
        #expect(Self.state(.begin, .wait, .end).phase == .delayingCompletion)
        #expect(Self.state(.begin, .wait, .end).isVisible)
        #expect(Self.state(.begin, .wait, .end, .wait) == IndicatorState())
    }

    @Test func aShortRequestIsNotShown() {
        #expect(Self.state(.begin, .end) == IndicatorState())
    }

    @Test func theNextRequestKeepsItShown() {
        let state = Self.state(.begin, .wait, .end, .begin)
        #expect(state.phase == .active)
        #expect(state.count == 1)
    }

    @Test func theIndicatorIsHiddenAfterTheLastRequest() {
        #expect(Self.state(.begin, .begin, .end).phase == .delayingStart)
        #expect(Self.state(.begin, .begin, .wait, .end).phase == .active)
        #expect(Self.state(.begin, .begin, .wait, .end, .end).phase == .delayingCompletion)
    }

    @Test func anEndWithoutAStartChangesNothing() {
        #expect(Self.state(.end) == IndicatorState())
        #expect(Self.state(.end, .begin).count == 1)
        #expect(Self.state(.begin, .wait, .end, .end).phase == .delayingCompletion)
    }

    @Test func aLateTimerChangesNothing() {
        #expect(Self.state(.wait) == IndicatorState())
        #expect(Self.state(.begin, .wait, .wait).phase == .active)
    }
}
