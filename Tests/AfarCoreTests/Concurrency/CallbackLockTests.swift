import Foundation
import Testing

@testable import AfarCore

/// Callbacks run one at a time, in the order of arrival.
@Suite(.timeLimit(.minutes(1))) struct CallbackLockTests {
    @Test func criticalSectionsDoNotOverlap() async {
        let mutex = CallbackLock()
        let (inside, most, count) = (Locked(0), Locked(0), Locked(0))
        await withTaskGroup { group in
            for _ in 0..<500 {
                group.addTask {
                    await mutex.withLock {
                        let now = inside.withLock { inside in
                            inside += 1
                            return inside
                        }
                        most.withLock { $0 = max($0, now) }
                        await Task.yield()
                        count.withLock { $0 += 1 }
                        inside.withLock { $0 -= 1 }
                    }
                }
            }
        }
        #expect(most.withLock { $0 } == 1)
        #expect(count.withLock { $0 } == 500)
    }

    @Test func theLockIsFair() async {
        let mutex = CallbackLock()
        let order = Locked<[Int]>([])
        let (entered, proceed) = (Deferred<Void>(), Deferred<Void>())
        var tasks = [
            Task {
                await mutex.withLock {
                    entered.fulfill(())
                    await proceed.value
                }
            }
        ]
        await entered.value
        for number in 0..<20 {
            let isQueued = Deferred<Void>()
            tasks.append(
                Task.immediate {
                    Task.immediate { isQueued.fulfill(()) }
                    await mutex.withLock { order.withLock { $0.append(number) } }
                })
            await isQueued.value
        }
        proceed.fulfill(())
        for task in tasks { await task.value }
        #expect(order.withLock { $0 } == Array(0..<20))
    }
}

extension CallbackLock {
    fileprivate func withLock(_ body: () async -> Void) async {
        await withUnsafeContinuation { continuation in lock { continuation.resume() } }
        await body()
        unlock()
    }
}
