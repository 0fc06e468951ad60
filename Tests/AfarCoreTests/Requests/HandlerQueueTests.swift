import Testing

@testable import AfarCore

@Suite struct HandlerQueueTests {
    private var queue = HandlerQueue()

    private func handler() -> HandlerQueue.Handler { { _ in .init(error: nil, release: {}) } }

    @Test mutating func handlersAddedBeforeTheEndWaitForIt() {
        #expect(!queue.append(handler()))
        queue.open()
        guard case .serialize = queue.step() else { return #expect(Bool(false), "the handler was not run") }
    }

    @Test mutating func completionsAreReleasedTogetherAndOnce() {
        for _ in 0..<2 { _ = queue.append(handler()) }
        queue.open()
        while case .serialize = queue.step() { queue.keep {} }
        queue.open()
        guard case .release(let releases) = queue.step() else { return #expect(Bool(false), "a handler ran twice") }
        #expect(releases.isEmpty)
    }

    @Test mutating func aHandlerAddedWhileDrainingIsTakenByTheDrain() {
        _ = queue.append(handler())
        queue.open()
        _ = queue.step()
        #expect(!queue.append(handler()))
        guard case .serialize = queue.step() else { return #expect(Bool(false), "the second handler was lost") }
    }

    @Test mutating func aLateHandlerNeedsADrainOfItsOwn() {
        queue.open()
        _ = queue.step()
        #expect(queue.append(handler()))
        #expect(!queue.append(handler()))
    }

    @Test mutating func rewindingRunsAllHandlersAgainAndForgetsTheirResults() {
        _ = queue.append(handler())
        queue.open()
        _ = queue.step()
        queue.keep {}
        queue.rewind()
        #expect(!queue.append(handler()))
        queue.open()
        var count = 0
        while case .serialize = queue.step() { count += 1 }
        #expect(count == 2)
    }
}
