import Testing

@testable import AfarCurl

struct LookupLimiterTests {
    private final class Waiter {
        let name: Character
        init(_ name: Character) { self.name = name }
    }

    private typealias Limiter = LookupLimiter<Waiter>

    /// Enters all waiters and returns the number of those admitted immediately.
    private func enter(_ names: String, _ limiter: inout Limiter) -> Int {
        names.map { limiter.enter(Waiter($0)) }.count { $0 }
    }

    private func drain(_ limiter: inout Limiter) -> String {
        var names = ""
        while let waiter = limiter.admit() { names.append(waiter.name) }
        return names
    }

    @Test func lookupsBeyondTheLimitWaitInOrder() {
        var limiter = Limiter(limit: 2)
        #expect(enter("abcd", &limiter) == 2)
        #expect(drain(&limiter) == "")
        limiter.release()
        #expect(drain(&limiter) == "c")
        limiter.release()
        #expect(drain(&limiter) == "d")
    }

    /// A slot can become free while libcurl is running. A new waiter can then arrive before an older one is admitted.
    @Test func newWaitersDoNotOvertakeOthers() {
        var limiter = Limiter(limit: 1)
        #expect(enter("ab", &limiter) == 1)
        limiter.release()
        #expect(enter("c", &limiter) == 0)
        #expect(drain(&limiter) == "b")
    }

    @Test func aWithdrawnWaiterIsNotAdmitted() {
        var limiter = Limiter(limit: 1)
        #expect(enter("a", &limiter) == 1)
        let waiter = Waiter("b")
        _ = limiter.enter(waiter)
        _ = limiter.enter(Waiter("c"))
        limiter.withdraw(waiter)
        limiter.release()
        #expect(drain(&limiter) == "c")
    }

    @Test func abandonedLookupsFreeSlotsUpToALimit() {
        var limiter = Limiter(limit: 2)
        for number in 0..<3 {
            #expect(enter("ab", &limiter) == 2, "\(number)")
            for _ in 0..<2 { limiter.abandon() }
        }
        #expect(limiter.abandonedCount == 6)
        #expect(enter("xyz", &limiter) == 0)
        limiter.abandonedLookupEnded()
        #expect(drain(&limiter) == "xy")
    }

    @Test(arguments: [0, -1, .min, .max])
    func anyLimitAllowsOneLookup(_ limit: Int) {
        var limiter = Limiter(limit: limit)
        #expect(enter("a", &limiter) == 1)
    }
}
