import Testing

@testable import AfarCore

@Suite struct HandlerQueueTests {
    private var queue = HandlerQueue<Void>()

    private func handler() -> HandlerQueue<Void>.Handler { { _ in .init(error: nil, release: { _ in }) } }

    @Test mutating func handlersAddedBeforeTheEndWaitForIt() {
        let drains1 = queue.append(handler())
        #expect(!drains1)
        queue.open()
        guard case .serialize = queue.step() else { Issue.record("the handler was not run"); return }
    }

    @Test mutating func completionsAreReleasedTogetherAndOnce() {
        for _ in 0..<2 { _ = queue.append(handler()) }
        queue.open()
        for _ in 0..<2 {
            guard case .serialize = queue.step() else { Issue.record("a handler was lost"); return }
            queue.keep { _ in }
        }
        guard case .release(let releases, let spent) = queue.step() else {
            Issue.record("nothing was released")
            return
        }
        #expect(releases.count == 2 && spent.count == 2)
        guard case .done = queue.step() else { Issue.record("something ran twice"); return }
        queue.open()
        guard case .done = queue.step() else { Issue.record("something ran again"); return }
    }

    @Test mutating func aHandlerAddedWhileDrainingIsTakenByTheDrain() {
        _ = queue.append(handler())
        queue.open()
        _ = queue.step()
        let drains2 = queue.append(handler())
        #expect(!drains2)
        guard case .serialize = queue.step() else { Issue.record("the second handler was lost"); return }
    }

    @Test mutating func aHandlerAddedWhileCompletionsAreReleasedComesAfterThem() {
        _ = queue.append(handler())
        queue.open()
        _ = queue.step()
        queue.keep { _ in }
        guard case .release = queue.step() else { Issue.record("nothing was released"); return }
        let drains = queue.append(handler())
        #expect(!drains)
        guard case .serialize = queue.step() else { Issue.record("the late handler was lost"); return }
    }

    @Test mutating func aLateHandlerNeedsADrainOfItsOwn() {
        queue.open()
        while case .serialize = queue.step() {}
        let drains3 = queue.append(handler())
        #expect(drains3)
        let drains4 = queue.append(handler())
        #expect(!drains4)
    }

    @Test mutating func rewindingRunsAllHandlersAgainAndForgetsTheirResults() {
        _ = queue.append(handler())
        queue.open()
        _ = queue.step()
        queue.keep { _ in }
        _ = queue.rewind()
        let drains5 = queue.append(handler())
        #expect(!drains5)
        queue.open()
        var count = 0
        while case .serialize = queue.step() { count += 1 }
        #expect(count == 2)
    }
}
