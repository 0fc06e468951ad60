import AfarCore
import Testing

@testable import AfarCurl

struct TransferStateTests {
    private static let second: UInt64 = 1_000_000_000

    private func state(idle: Double = 10, total: Double = 100) -> TransferState {
        var options = ExchangeOptions()
        options.idleTimeout = idle
        options.totalTimeout = total
        return TransferState(options: options, now: 0)
    }

    private func connected(idle: Double = 10, total: Double = 100) -> TransferState {
        var state = state(idle: idle, total: total)
        state.admit()
        _ = state.connect(at: 0)
        return state
    }

    @Test func phasesFollowEachOther() {
        var state = state()
        #expect(state.phase == .queued)
        state.admit()
        #expect(state.phase == .connecting)
        let isNews = state.connect(at: 1)
        #expect(isNews)
        #expect(state.phase == .connected)
        #expect(state.hasConnected)
        state.receiveHead(at: 2)
        #expect(state.phase == .receiving)
        let isFirst = state.finish()
        #expect(isFirst)
        #expect(state.phase == .finished)
    }

    @Test func phasesNeverGoBack() {
        var state = connected()
        state.admit()
        #expect(state.phase == .connected)
        let isNews = state.connect(at: 5)
        #expect(!isNews)
        state.receiveHead(at: 5)
        let isNewsLater = state.connect(at: 6)
        #expect(!isNewsLater)
        state.receiveHead(at: 7)
        #expect(state.phase == .receiving)
        _ = state.finish()
        state.receiveHead(at: 8)
        #expect(state.phase == .finished)
    }

    @Test func connectingNeedsAdmission() {
        var state = state()
        let isNews = state.connect(at: 0)
        #expect(!isNews)
        #expect(state.phase == .queued)
        #expect(!state.hasConnected)
    }

    @Test func finishesOnce() {
        var state = state()
        let answers = [state.finish(), state.finish(), state.finish()]
        #expect(answers == [true, false, false])
    }

    @Test func theFirstFaultWins() {
        var state = state()
        state.fail(.idleTimeout(1))
        state.fail(.cancelled)
        #expect(state.fault?.code == .timedOut)
    }

    @Test func aFinishedTransferTakesNoFault() {
        var state = state()
        _ = state.finish()
        state.fail(.cancelled)
        #expect(state.fault == nil)
        #expect(state.expiry(at: .max) == nil)
    }

    // MARK: Timers

    @Test func theIdleTimerDoesNotRunBeforeTheConnection() {
        var state = state(idle: 1)
        #expect(state.expiry(at: 50 * Self.second) == nil)
        state.admit()
        state.noteActivity(at: 0)
        #expect(state.expiry(at: 50 * Self.second) == nil)
        _ = state.connect(at: 50 * Self.second)
        #expect(state.expiry(at: 51 * Self.second - 1) == nil)
        #expect(state.expiry(at: 51 * Self.second)?.message.contains("idle") == true)
    }

    @Test func activityStartsTheIdleTimerAgain() {
        var state = connected()
        state.noteActivity(at: 9 * Self.second)
        #expect(state.expiry(at: 18 * Self.second) == nil)
        #expect(state.expiry(at: 19 * Self.second)?.code == .timedOut)
        state.receiveHead(at: 18 * Self.second)
        #expect(state.expiry(at: 27 * Self.second) == nil)
        #expect(state.nextDeadline == 28 * Self.second)
    }

    @Test func theIdleTimerStandsStillWhileSuspended() {
        var state = connected()
        state.setSuspended(true, at: 5 * Self.second)
        state.noteActivity(at: 6 * Self.second)
        #expect(state.expiry(at: 99 * Self.second) == nil)
        state.setSuspended(false, at: 50 * Self.second)
        #expect(state.expiry(at: 59 * Self.second) == nil)
        #expect(state.expiry(at: 60 * Self.second)?.message.contains("idle") == true)
    }

    @Test func theIdleTimerStandsStillWhileABodyWaits() {
        for flag in [\TransferState.isReceivingPaused, \.isSendingPaused] {
            var state = connected()
            state[keyPath: flag] = true
            state.pauseDidChange(at: 1 * Self.second)
            #expect(state.nextDeadline == 100 * Self.second)
            state[keyPath: flag] = false
            state.pauseDidChange(at: 2 * Self.second)
            #expect(state.nextDeadline == 12 * Self.second)
        }
    }

    @Test func oneReasonToStandStillIsEnough() {
        var state = connected()
        state.isReceivingPaused = true
        state.setSuspended(true, at: 0)
        state.isReceivingPaused = false
        state.pauseDidChange(at: 0)
        #expect(state.expiry(at: 50 * Self.second) == nil)
        state.setSuspended(false, at: 0)
        #expect(state.expiry(at: 50 * Self.second)?.code == .timedOut)
    }

    @Test func suspensionBeforeTheConnectionHoldsTheTimerLater() {
        var state = state()
        state.setSuspended(true, at: 0)
        state.admit()
        _ = state.connect(at: 0)
        #expect(state.expiry(at: 50 * Self.second) == nil)
    }

    @Test func theTotalTimerRunsThroughEverything() {
        var state = state(idle: 1_000, total: 7)
        #expect(state.nextDeadline == 7 * Self.second)
        state.setSuspended(true, at: 0)
        #expect(state.expiry(at: 7 * Self.second - 1) == nil)
        #expect(state.expiry(at: 7 * Self.second)?.message.contains("total") == true)
        state.admit()
        _ = state.connect(at: 0)
        #expect(state.expiry(at: 7 * Self.second)?.message.contains("total") == true)
    }

    @Test(arguments: [Double.infinity, .nan, .greatestFiniteMagnitude, 1e300])
    func endlessTimeoutsNeverPass(_ seconds: Double) {
        let state = connected(idle: seconds, total: seconds)
        #expect(state.nextDeadline == .max)
        #expect(state.expiry(at: .max - 1) == nil)
    }

    @Test(arguments: [0, -1, -Double.infinity])
    func timeoutsOfNothingPassAtOnce(_ seconds: Double) {
        #expect(connected(idle: seconds).expiry(at: 0)?.code == .timedOut)
        #expect(state(total: seconds).expiry(at: 0)?.code == .timedOut)
    }
}
