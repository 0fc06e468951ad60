import Synchronization
import TestSupport
import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1))) struct PendingHeadDecisionTests {

    @Test func onlyTheFirstDecisionCountsEvenIfItIsPending() async {
        let (outer, inner) = (PendingHeadDecision(), PendingHeadDecision())
        let log = Log()
        outer.whenGiven { log.append("\($0)") }
        outer.give(.ask(inner))
        outer.give(.discard(upTo: 1))
        inner.give(.take())
        #expect(log.entries.count == 1)
        #expect(log.entries.first?.hasPrefix("take") == true, "\(log.entries)")
    }

    @Test func decisionsFromManyThreads() async {
        for _ in 0..<300 {
            let count = Count()
            let received = Count()
            do {
                let pending = PendingHeadDecision()
                for _ in 0..<4 { pending.whenGiven { _ in received.add() } }
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<8 {
                        group.addTask {
                            if index % 2 == 0 {
                                pending.give(index == 4 ? .ask(PendingHeadDecision()) : .take())
                            } else {
                                count.add()
                                pending.whenGiven { _ in received.add() }
                            }
                        }
                    }
                }
            }
            #expect(received.value == 4 + count.value)
        }
    }

    @Test func aDecisionThatWaitsForItselfRefuses() {
        let decision = PendingHeadDecision()
        let log = Log()
        decision.whenGiven { if case .refuse = $0 { log.append("refused") } }
        decision.give(.ask(decision))
        #expect(log.entries == ["refused"])
    }
}

private final class Count: Sendable {
    private let count = Atomic(0)

    @discardableResult func add() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
    var value: Int { count.load(ordering: .relaxed) }
}
