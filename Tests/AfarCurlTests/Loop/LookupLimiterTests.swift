import Testing

@testable import AfarCurl

struct LookupLimiterTests {
    private final class Waiter {
        let name: Character
        init(_ name: Character) { self.name = name }
    }

    private typealias Limiter = LookupLimiter<Waiter>

    private static let second: UInt64 = 1_000_000_000

    /// Enters waiters for different hosts, and returns the numbers of those admitted immediately.
    private func enter(_ names: String, _ limiter: inout Limiter, at now: UInt64 = 0) -> [Int] {
        names.compactMap { limiter.enter(Waiter($0), host: "\($0).example", at: now) }
    }

    private func drain(_ limiter: inout Limiter, at now: UInt64 = 0) -> String {
        var names = ""
        while let (waiter, _) = limiter.admit(at: now) { names.append(waiter.name) }
        return names
    }

    @Test func lookupsBeyondTheLimitWaitInOrder() {
        var limiter = Limiter(limit: 2)
        let numbers = enter("abcd", &limiter)
        #expect(numbers.count == 2 && limiter.isWaitedFor)
        var names = drain(&limiter)
        for number in numbers {
            limiter.release(number)
            names += "," + drain(&limiter)
        }
        #expect(names == ",c,d" && !limiter.isWaitedFor)
    }

    /// A slot can become free while libcurl is running. A new waiter can then arrive before an older one is admitted.
    @Test func newWaitersDoNotOvertakeOthers() {
        var limiter = Limiter(limit: 1)
        let numbers = enter("ab", &limiter)
        #expect(numbers.count == 1)
        limiter.release(numbers[0])
        let later = enter("c", &limiter)
        let names = drain(&limiter)
        #expect(later.isEmpty && names == "b")
    }

    @Test func aWithdrawnWaiterIsNotAdmitted() {
        var limiter = Limiter(limit: 1)
        let numbers = enter("a", &limiter)
        let waiter = Waiter("b")
        _ = limiter.enter(waiter, host: "b.example", at: 0)
        _ = enter("c", &limiter)
        limiter.withdraw(waiter)
        limiter.withdraw(waiter)
        for number in numbers { limiter.release(number) }
        let names = drain(&limiter)
        #expect(names == "c")
    }

    @Test func abandonedLookupsFreeSlotsUpToALimit() {
        var limiter = Limiter(limit: 2)
        var abandoned: [Int] = []
        for names in ["ab", "cd", "ef", "gh"] {
            let numbers = enter(names, &limiter)
            #expect(numbers.count == 2, "\(names)")
            for number in numbers { limiter.abandon(number) }
            abandoned += numbers
        }
        let none = enter("xyz", &limiter)
        #expect(none.isEmpty)
        for number in abandoned.prefix(2) { limiter.release(number) }
        let names = drain(&limiter)
        #expect(names == "xy")
    }

    /// After a second, a lookup makes room for others.
    @Test func slowLookupsDoNotCount() {
        var limiter = Limiter(limit: 1)
        let numbers = enter("a", &limiter, at: 5)
        #expect(numbers.count == 1 && limiter.nextDeadline == .max)
        _ = enter("b", &limiter, at: 6)
        #expect(limiter.nextDeadline == Self.second + 5)
        limiter.stopCounting(at: Self.second)
        var names = drain(&limiter, at: Self.second)
        limiter.stopCounting(at: Self.second + 5)
        names += "," + drain(&limiter, at: Self.second + 5)
        #expect(names == ",b" && limiter.nextDeadline == .max)
    }

    @Test(arguments: [0, -1, .min, .max])
    func anyLimitAllowsOneLookup(_ limit: Int) {
        var limiter = Limiter(limit: limit)
        let numbers = enter("a", &limiter)
        #expect(numbers.count == 1)
    }
}
