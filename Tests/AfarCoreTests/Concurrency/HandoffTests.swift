import TestSupport
import Testing

@testable import AfarCore

@Suite struct HandoffTests {
    @Test func elementsComeInOrderAndTheLastOnesAfterThem() async {
        let handoff = Handoff<Int>()
        let giver = Task {
            for element in 0..<1000 { await handoff.give(element) }
            handoff.finish(with: [1000, 1001])
        }
        var taken: [Int] = []
        while let element = await handoff.take() { taken.append(element) }
        #expect(taken == Array(0..<1002))
        await giver.value
    }

    @Test func theGiverWaitsForTheTaker() async {
        let handoff = Handoff<Int>()
        let given = Locked(0)
        let giver = Task {
            for element in 0..<10 {
                await handoff.give(element)
                given.withLock { $0 += 1 }
            }
        }
        for element in 0..<10 {
            #expect(given.withLock { $0 } <= element)
            #expect(await handoff.take() == element)
        }
        await giver.value
    }

    @Test func whenNobodyTakesTheGiverGoesOn() async {
        let handoff = Handoff<Int>()
        let giver = Task { for element in 0..<10 { await handoff.give(element) } }
        #expect(await handoff.take() == 0)
        #expect(handoff.close())
        await giver.value
        #expect(await handoff.take() == nil)
        #expect(!handoff.close())
    }

    @Test func aTakerThatWaitsIsToldOfTheClosing() async {
        let handoff = Handoff<Int>()
        let taker = Task { await handoff.take() }
        handoff.close()
        #expect(await taker.value == nil)
        await handoff.give(1)
    }

    @Test func aCancelledGiverDoesNotWait() async {
        let handoff = Handoff<Int>()
        let giver = Task { await handoff.give(1) }
        giver.cancel()
        await giver.value
        handoff.finish(with: [2])
        #expect(await handoff.take() == 1)
        #expect(await handoff.take() == 2)
        #expect(await handoff.take() == nil)
    }

    @Test func whatNobodyTakesIsReleasedWithoutTheLock() async {
        let handoff = Handoff<DeinitProbe>()
        let didLook = Deferred<Bool>()
        handoff.finish(with: [DeinitProbe(didLook) { handoff.close() }])
        handoff.close()
        #expect(await didLook.value)
    }
}
