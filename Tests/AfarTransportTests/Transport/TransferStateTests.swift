import HTTPTypes
import Testing

@testable import AfarTransport

struct TransferStateTests {
    private static let second: UInt64 = 1_000_000_000

    private func state(
        connect: Double = 1_000, idle: Double = 10, total: Double = 100, rate: Double = 1, isStreamed: Bool = false
    ) -> TransferState {
        var options = ExchangeOptions()
        options.connectTimeout = connect
        options.minimumTransferRate = rate
        options.idleTimeout = idle
        options.totalTimeout = total
        let exchange = Exchange(
            request: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil),
            delivery: isStreamed ? .stream(highWaterMark: 1) : .collect(), options: options)
        return TransferState(Hop(exchange), now: 0)
    }

    private func connected(
        idle: Double = 10, total: Double = 100, rate: Double = 1, isStreamed: Bool = false
    ) -> TransferState {
        var state = state(idle: idle, total: total, rate: rate, isStreamed: isStreamed)
        state.admit(at: 0)
        _ = state.connect(at: 0)
        return state
    }

    @Test func phasesAreOrdered() {
        var state = state()
        #expect(state.phase == .queued)
        state.admit(at: 0)
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
        state.admit(at: 0)
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

    @Test func theConnectTimerStopsInTheQueue() {
        var state = state(connect: 5)
        state.admit(at: 0)
        let deadline = state.nextDeadline
        state.requeue()
        #expect(state.phase == .queued)
        #expect(state.nextDeadline > deadline)
        state.admit(at: 0)
        #expect(state.phase == .connecting)
        var connected = connected()
        connected.requeue()
        #expect(connected.phase == .connected)
    }

    @Test func connectingRequiresAdmission() {
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
        state.fail(.connectTimeout(1))
        state.fail(.cancelled)
        #expect(state.fault?.code == .timedOut)
    }

    @Test func aFinishedTransferIgnoresFaults() {
        var state = state()
        _ = state.finish()
        state.fail(.cancelled)
        #expect(state.fault == nil)
        #expect(state.expiry(at: .max) == nil)
    }

    @Test func theIdleTimerDoesNotRunBeforeTheConnection() {
        var state = state(idle: 1)
        #expect(state.expiry(at: 50 * Self.second) == nil)
        state.admit(at: 0)
        state.noteActivity(of: 100, at: 0)
        #expect(state.expiry(at: 50 * Self.second) == nil)
        _ = state.connect(at: 50 * Self.second)
        #expect(state.expiry(at: 51 * Self.second - 1) == nil)
        #expect(state.expiry(at: 51 * Self.second)?.message.contains("idle") == true)
    }

    @Test func activityRestartsTheIdleTimer() {
        var state = connected()
        state.noteActivity(of: 100, at: 9 * Self.second)
        #expect(state.expiry(at: 18 * Self.second) == nil)
        #expect(state.expiry(at: 19 * Self.second)?.code == .timedOut)
        state.receiveHead(at: 18 * Self.second)
        #expect(state.expiry(at: 27 * Self.second) == nil)
        #expect(state.nextDeadline == 28 * Self.second)
    }

    @Test func theConnectTimerRunsUntilTheConnection() {
        var state = state(connect: 3)
        #expect(state.expiry(at: 50 * Self.second) == nil)
        state.admit(at: 50 * Self.second)
        #expect(state.nextDeadline == 53 * Self.second)
        state.setSuspended(true, at: 51 * Self.second)
        #expect(state.expiry(at: 53 * Self.second)?.message.contains("connect") == true)
        _ = state.connect(at: 52 * Self.second)
        #expect(state.expiry(at: 99 * Self.second) == nil)
    }

    @Test func anInformationalHeadRestartsTheIdleTimer() {
        var state = connected(idle: 10, rate: 1_000)
        state.receiveInformational(at: 9 * Self.second)
        #expect(state.nextDeadline == 19 * Self.second)
    }

    @Test(arguments: [true, false]) func aRejectedBodyIsNotAwaited(needsNoMoreBody: Bool) {
        var state = connected()
        state.isSendingPaused = true
        state.pauseDidChange(at: 0)
        state.receiveHead(needsNoMoreBody: needsNoMoreBody, at: 1 * Self.second)
        #expect((state.expiry(at: 50 * Self.second) != nil) == needsNoMoreBody)
    }

    @Test func bytesBelowTheRateAreIdle() {
        var state = connected(idle: 10, rate: 1)
        for second in 1..<10 { state.noteActivity(of: 1, at: UInt64(second) * Self.second) }
        let fault = state.expiry(at: 10 * Self.second)
        #expect(fault?.code == .timedOut)
        #expect(fault?.message.contains("9 bytes") == true, "\(fault?.message ?? "")")
    }

    @Test(arguments: [(0, "no bytes were"), (1, "only 1 byte was"), (2, "only 2 bytes were")])
    func theIdleTimeoutCountsBytesInItsMessage(_ count: Int, _ amount: String) {
        var state = connected(idle: 10, rate: 1)
        if count > 0 { state.noteActivity(of: count, at: 1 * Self.second) }
        let fault = state.expiry(at: 10 * Self.second)
        #expect(fault?.message.hasPrefix("\(amount) sent or received within ") == true, "\(fault?.message ?? "")")
    }

    @Test func bytesAboveTheRateAreNotIdle() {
        var state = connected(idle: 10, rate: 1)
        for second in 1...50 { state.noteActivity(of: 2, at: UInt64(second) * Self.second) }
        #expect(state.expiry(at: 50 * Self.second) == nil)
        #expect(state.expiry(at: 60 * Self.second)?.code == .timedOut)
    }

    @Test func oneLargeChunkRestartsTheTimer() {
        var state = connected(idle: 10, rate: 1)
        state.noteActivity(of: 11, at: 9 * Self.second)
        #expect(state.nextDeadline == 19 * Self.second)
    }

    @Test(arguments: [0, -5, .nan, -.infinity] as [Double])
    func withoutARateAnyByteRestartsTheTimer(_ rate: Double) {
        var state = connected(idle: 10, rate: rate)
        state.noteActivity(of: 1, at: 9 * Self.second)
        #expect(state.nextDeadline == 19 * Self.second)
    }

    @Test func anInfiniteRateDoesNotAffectTheTimers() {
        var state = connected(idle: 10, rate: .infinity)
        state.noteActivity(of: 2_000_000_000_000_000, at: 9 * Self.second)
        #expect(state.nextDeadline == 19 * Self.second)
    }

    @Test func aWatchedTransferCanBeSlow() {
        var state = connected(idle: 10, isStreamed: true)
        state.noteActivity(of: 1, at: 9 * Self.second)
        #expect(state.nextDeadline == 19 * Self.second)
    }

    @Test func theIdleTimerPausesWhileSuspended() {
        var state = connected()
        state.setSuspended(true, at: 5 * Self.second)
        state.noteActivity(of: 100, at: 6 * Self.second)
        #expect(state.expiry(at: 99 * Self.second) == nil)
        state.setSuspended(false, at: 50 * Self.second)
        #expect(state.expiry(at: 59 * Self.second) == nil)
        #expect(state.expiry(at: 60 * Self.second)?.message.contains("idle") == true)
    }

    @Test func theIdleTimerPausesWhileABodyWaits() {
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

    @Test func oneReasonToPauseIsSufficient() {
        var state = connected()
        state.isReceivingPaused = true
        state.setSuspended(true, at: 0)
        state.isReceivingPaused = false
        state.pauseDidChange(at: 0)
        #expect(state.expiry(at: 50 * Self.second) == nil)
        state.setSuspended(false, at: 0)
        #expect(state.expiry(at: 50 * Self.second)?.code == .timedOut)
    }

    @Test func suspensionBeforeTheConnectionPausesTheTimerLater() {
        var state = state()
        state.setSuspended(true, at: 0)
        state.admit(at: 0)
        _ = state.connect(at: 0)
        #expect(state.expiry(at: 50 * Self.second) == nil)
    }

    @Test func theTotalTimerNeverPauses() {
        var state = state(idle: 1_000, total: 7)
        #expect(state.nextDeadline == 7 * Self.second)
        state.setSuspended(true, at: 0)
        #expect(state.expiry(at: 7 * Self.second - 1) == nil)
        #expect(state.expiry(at: 7 * Self.second)?.message.contains("total") == true)
        state.admit(at: 0)
        _ = state.connect(at: 0)
        #expect(state.expiry(at: 7 * Self.second)?.message.contains("total") == true)
    }

    @Test(arguments: [Double.infinity, .nan, .greatestFiniteMagnitude, 1e300])
    func infiniteTimeoutsNeverExpire(_ seconds: Double) {
        let state = connected(idle: seconds, total: seconds)
        #expect(state.nextDeadline == .max)
        #expect(state.expiry(at: .max - 1) == nil)
    }

    @Test(arguments: [0, -1, -Double.infinity])
    func zeroTimeoutsExpireImmediately(_ seconds: Double) {
        #expect(connected(idle: seconds).expiry(at: 0)?.code == .timedOut)
        #expect(state(total: seconds).expiry(at: 0)?.code == .timedOut)
    }
}
