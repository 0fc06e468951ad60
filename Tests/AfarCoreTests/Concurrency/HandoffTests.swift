import TestSupport
import Testing

@testable import AfarCore

@Suite struct HandoffTests {
    @Test func elementsArriveInOrderFollowedByTheLastOnes() async {
        let handoff = Handoff<Int>()
        let sender = Task {
            for element in 0..<1000 { await handoff.send(element) }
            handoff.finish(with: [1000, 1001])
        }
        var received: [Int] = []
        while let element = await handoff.receive() { received.append(element) }
        #expect(received == Array(0..<1002))
        await sender.value
    }

    @Test func theProducerWaitsForTheConsumer() async {
        let handoff = Handoff<Int>()
        let sent = Locked(0)
        let sender = Task {
            for element in 0..<10 {
                await handoff.send(element)
                sent.withLock { $0 += 1 }
            }
        }
        for element in 0..<10 {
            #expect(sent.withLock { $0 } <= element)
            #expect(await handoff.receive() == element)
        }
        await sender.value
    }

    @Test func closingReleasesTheProducer() async {
        let handoff = Handoff<Int>()
        let sender = Task { for element in 0..<10 { await handoff.send(element) } }
        #expect(await handoff.receive() == 0)
        #expect(handoff.close())
        await sender.value
        #expect(await handoff.receive() == nil)
        #expect(!handoff.close())
    }

    @Test func closingReleasesAWaitingConsumer() async {
        let handoff = Handoff<Int>()
        let receiver = Task { await handoff.receive() }
        handoff.close()
        #expect(await receiver.value == nil)
        await handoff.send(1)
    }

    @Test func aCancelledProducerDoesNotWait() async {
        let handoff = Handoff<Int>()
        let sender = Task { await handoff.send(1) }
        sender.cancel()
        await sender.value
        handoff.finish(with: [2])
        #expect(await handoff.receive() == 1)
        #expect(await handoff.receive() == 2)
        #expect(await handoff.receive() == nil)
    }

    @Test func unreadElementsAreReleasedOutsideTheLock() async {
        let handoff = Handoff<DeinitProbe>()
        let didLook = Deferred<Bool>()
        handoff.finish(with: [DeinitProbe(didLook) { handoff.close() }])
        handoff.close()
        #expect(await didLook.value)
    }
}
