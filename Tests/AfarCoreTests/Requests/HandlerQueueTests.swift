import Testing

@testable import AfarCore

@Suite struct HandlerQueueTests {
    private var queue = HandlerQueue<Void>()

    private func handler() -> HandlerQueue<Void>.Handler { { _ in .init(error: nil, release: {}) } }

    @Test mutating func handlersAddedBeforeTheEndWaitForIt() {
        let drains1 = queue.append(handler())
        #expect(!drains1)
        queue.open()
        guard case .serialize = queue.step() else { Issue.record("the handler was not run"); return }
    }

    @Test mutating func completionsAreReleasedTogetherAndOnce() {
        for _ in 0..<2 { _ = queue.append(handler()) }
        queue.open()
        while case .serialize = queue.step() { queue.keep {} }
        queue.open()
        guard case .release(let releases) = queue.step() else { Issue.record("a handler ran twice"); return }
        #expect(releases.isEmpty)
    }

    @Test mutating func aHandlerAddedWhileDrainingIsTakenByTheDrain() {
        _ = queue.append(handler())
        queue.open()
        _ = queue.step()
        let drains2 = queue.append(handler())
        #expect(!drains2)
        guard case .serialize = queue.step() else { Issue.record("the second handler was lost"); return }
    }

    @Test mutating func aLateHandlerNeedsADrainOfItsOwn() {
        queue.open()
        _ = queue.step()
        let drains3 = queue.append(handler())
        #expect(drains3)
        let drains4 = queue.append(handler())
        #expect(!drains4)
    }

    @Test mutating func rewindingRunsAllHandlersAgainAndForgetsTheirResults() {
        _ = queue.append(handler())
        queue.open()
        _ = queue.step()
        queue.keep {}
        queue.rewind()
        let drains5 = queue.append(handler())
        #expect(!drains5)
        queue.open()
        var count = 0
        while case .serialize = queue.step() { count += 1 }
        #expect(count == 2)
    }
}
