import Synchronization
import TestSupport
import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1))) struct PendingHeadDecisionTests {

    @Test func onlyTheFirstDecisionIsUsedEvenIfPending() async {
        let (outer, inner) = (PendingHeadDecision(), PendingHeadDecision())
        let log = Log()
        outer.whenDecided { log.append("\($0)") }
        outer.fulfill(.deferred(inner))
        outer.fulfill(.discard(upTo: 1))
        inner.fulfill(.take())
        #expect(log.entries.count == 1)
        #expect(log.entries.first?.hasPrefix("take") == true, "\(log.entries)")
    }

    @Test func decisionsFromManyThreads() async {
        for _ in 0..<300 {
            let count = Count()
            let received = Count()
            do {
                let pending = PendingHeadDecision()
                for _ in 0..<4 { pending.whenDecided { _ in received.add() } }
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<8 {
                        group.addTask {
                            if index % 2 == 0 {
                                pending.fulfill(index == 4 ? .deferred(PendingHeadDecision()) : .take())
                            } else {
                                count.add()
                                pending.whenDecided { _ in received.add() }
                            }
                        }
                    }
                }
            }
            #expect(received.value == 4 + count.value)
        }
    }

    @Test func aSelfReferencingDecisionRejects() {
        let decision = PendingHeadDecision()
        let log = Log()
        decision.whenDecided { if case .refuse = $0 { log.append("refused") } }
        decision.fulfill(.deferred(decision))
        #expect(log.entries == ["refused"])
    }
}

private final class Count: Sendable {
    private let count = Atomic(0)

    @discardableResult func add() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
    var value: Int { count.load(ordering: .relaxed) }
}
