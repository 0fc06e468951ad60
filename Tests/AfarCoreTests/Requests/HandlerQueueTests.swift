import Testing

@testable import AfarCore

@Suite struct HandlerQueueTests {
    private var queue = HandlerQueue()

    @Test mutating func handlersAddedBeforeTheEndAreDeferred() {
        let drains1 = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        #expect(!drains1)
        queue.open()
        guard case .makeResponse = queue.step() else { Issue.record("the handler was not called"); return }
    }

    @Test mutating func responsesAreDeliveredTogetherOnce() {
        for _ in 0..<2 { _ = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } }) }
        queue.open()
        for _ in 0..<2 {
            guard case .makeResponse = queue.step() else { Issue.record("a handler was lost"); return }
        }
        guard case .deliver(let handlers) = queue.step() else {
            Issue.record("no handler was returned")
            return
        }
        #expect(handlers.count == 2)
        guard case .done = queue.step() else { Issue.record("a handler was called twice"); return }
        queue.open()
        guard case .done = queue.step() else { Issue.record("a handler was called again"); return }
    }

    @Test mutating func aHandlerAddedDuringADrainIsIncluded() {
        _ = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        queue.open()
        _ = queue.step()
        let drains2 = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        #expect(!drains2)
        guard case .makeResponse = queue.step() else { Issue.record("the second handler was lost"); return }
    }

    @Test mutating func aHandlerAddedDuringDeliveryIsCalledAfterward() {
        _ = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        queue.open()
        _ = queue.step()
        guard case .deliver = queue.step() else { Issue.record("no handler was returned"); return }
        let drains = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        #expect(!drains)
        guard case .makeResponse = queue.step() else { Issue.record("the late handler was lost"); return }
    }

    @Test mutating func aLateHandlerRequiresAnotherDrain() {
        queue.open()
        while case .makeResponse = queue.step() {}
        let drains3 = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        #expect(drains3)
        let drains4 = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        #expect(!drains4)
    }

    @Test mutating func rewindingRunsAllHandlersAgain() {
        _ = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        queue.open()
        _ = queue.step()
        _ = queue.prepareForRetry()
        let drains5 = queue.append(ResponseHandler { _ in .init(error: nil) { _ in } })
        #expect(!drains5)
        queue.open()
        var count = 0
        while case .makeResponse = queue.step() { count += 1 }
        #expect(count == 2)
    }
}
