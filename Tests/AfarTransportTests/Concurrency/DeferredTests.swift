import Synchronization
import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1))) struct DeferredTests {

    @Test func aBorrowedTaskLosesNoWork() async {
        // A lent piece of work and the value, at the same moment.
        for _ in 0..<2_000 {
            let deferred = Deferred<Int>()
            let waiter = Task { await deferred.value }
            let ran = Count()
            let lent = Count()
            let a = Task.detached {
                for _ in 0..<50 {
                    if deferred.lend({ ran.add() }) { lent.add() }
                    await Task.yield()
                }
            }
            let b = Task.detached {
                for _ in 0..<Int.random(in: 0..<30) { await Task.yield() }
                deferred.fulfil(1)
            }
            await a.value
            await b.value
            _ = await waiter.value
            let (l, r) = (lent.value, ran.value)
            if l != r {
                Issue.record("lent \(l), ran \(r)")
                break
            }
        }
    }
}

private final class Count: Sendable {
    private let count = Atomic(0)

    @discardableResult func add() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
    var value: Int { count.load(ordering: .relaxed) }
}
