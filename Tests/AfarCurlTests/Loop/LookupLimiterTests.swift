import Testing

@testable import AfarCurl

struct LookupLimiterTests {
    private final class Waiter {
        let name: Character
        init(_ name: Character) { self.name = name }
    }

    private typealias Limiter = LookupLimiter<Waiter>

    /// Enters all waiters and returns the slots of those admitted immediately.
    private func enter(_ names: String, _ limiter: inout Limiter) -> [Limiter.Slot] {
        names.map { limiter.enter(Waiter($0)) }.filter(\.isAdmitted).map(\.slot)
    }

    private func drain(_ limiter: inout Limiter) -> String {
        var names = ""
        while let waiter = limiter.admit() { names.append(waiter.name) }
        return names
    }

    @Test func lookupsBeyondTheLimitWaitInOrder() {
        var limiter = Limiter(limit: 2)
        let running = enter("abcd", &limiter)
        #expect(running.count == 2)
        #expect(drain(&limiter) == "")
        limiter.release(running[0])
        #expect(drain(&limiter) == "c")
        limiter.release(running[1])
        #expect(drain(&limiter) == "d")
    }

    /// A slot can become free while libcurl is running, and a new waiter can arrive before the loop admits the next
    /// one.
    @Test func newWaitersDoNotOvertakeOthers() {
        var limiter = Limiter(limit: 1)
        let running = enter("ab", &limiter)
        limiter.release(running[0])
        #expect(enter("c", &limiter).isEmpty)
        #expect(drain(&limiter) == "b")
    }

    @Test func aWithdrawnWaiterIsNotAdmitted() {
        var limiter = Limiter(limit: 1)
        let running = enter("a", &limiter)
        let slot = limiter.enter(Waiter("b")).slot
        _ = limiter.enter(Waiter("c"))
        limiter.withdraw(slot)
        limiter.release(running[0])
        #expect(drain(&limiter) == "c")
    }

    @Test func abandonedLookupsFreeSlotsUpToALimit() {
        var limiter = Limiter(limit: 2)
        for number in 0..<3 {
            let running = enter("ab", &limiter)
            #expect(running.count == 2, "\(number)")
            for slot in running { limiter.abandon(slot) }
        }
        #expect(limiter.abandonedCount == 6)
        #expect(enter("xyz", &limiter).isEmpty)
        limiter.abandonedLookupEnded()
        #expect(drain(&limiter) == "xy")
    }

    @Test(arguments: [0, -1, .min, .max])
    func anyLimitAllowsOneLookup(_ limit: Int) {
        var limiter = Limiter(limit: limit)
        #expect(enter("a", &limiter).count == 1)
    }
}
