import Testing

@testable import AfarCurl

struct HostLimiterTests {
    private final class Waiter: CustomStringConvertible {
        let description: String
        init(_ name: String) { description = name }
    }

    private typealias Limiter = HostLimiter<Waiter>

    private func drain(_ limiter: inout Limiter) -> [String] {
        var names: [String] = []
        while let admitted = limiter.admit() { names.append(admitted.description) }
        return names
    }

    /// Adds waiters, and returns the last one.
    @discardableResult
    private func enqueue(_ names: String, _ host: String, _ limiter: inout Limiter) -> (Waiter, Limiter.Host)? {
        var last: (Waiter, Limiter.Host)?
        for name in names {
            let waiter = Waiter(String(name))
            last = (waiter, limiter.enqueue(waiter, host: host))
        }
        return last
    }

    @Test func admitsUpToTheLimitInOrder() throws {
        var limiter = Limiter(limitPerHost: 2)
        let (_, host) = try #require(enqueue("abcd", "h", &limiter))
        #expect(drain(&limiter) == ["a", "b"])
        limiter.release(host)
        #expect(drain(&limiter) == ["c"])
        limiter.release(host)
        limiter.release(host)
        #expect(drain(&limiter) == ["d"])
    }

    @Test func aHostCanHaveADifferentLimit() {
        var limiter = Limiter(limitPerHost: 1)
        for name in ["a", "b", "c"] { _ = limiter.enqueue(Waiter(name), host: "2 h", limit: 2) }
        enqueue("de", "h", &limiter)
        #expect(drain(&limiter) == ["a", "d", "b"])
    }

    @Test func allWaitersOfAHostCanBeRemoved() throws {
        var limiter = Limiter(limitPerHost: 1)
        let (last, host) = try #require(enqueue("abcd", "h", &limiter))
        #expect(drain(&limiter) == ["a"])
        let (gone, _) = try #require(enqueue("e", "h", &limiter))
        limiter.withdraw(gone, from: host)
        let taken = limiter.withdrawAll(host: "h")
        #expect(taken.map(\.description) == ["b", "c", "d"])
        let others = limiter.withdrawAll(host: "h") + limiter.withdrawAll(host: "other")
        #expect(others.isEmpty)
        limiter.withdraw(last, from: host)
        limiter.release(host)
        enqueue("f", "h", &limiter)
        #expect(drain(&limiter) == ["f"])
    }

    @Test func hostsDoNotBlockEachOther() throws {
        var limiter = Limiter(limitPerHost: 1)
        enqueue("ab", "h", &limiter)
        enqueue("cd", "i", &limiter)
        #expect(drain(&limiter) == ["a", "c"])
    }

    @Test func hostsTakeTurns() {
        var limiter = Limiter(limitPerHost: 9)
        enqueue("abc", "h", &limiter)
        enqueue("xyz", "i", &limiter)
        #expect(drain(&limiter) == ["a", "x", "b", "y", "c", "z"])
    }

    @Test func limitsBelowOneAreOne() {
        var limiter = Limiter(limitPerHost: 0)
        enqueue("ab", "h", &limiter)
        #expect(drain(&limiter) == ["a"])
    }

    @Test func aWithdrawnWaiterIsNotAdmitted() throws {
        var limiter = Limiter(limitPerHost: 1)
        enqueue("a", "h", &limiter)
        #expect(drain(&limiter) == ["a"])
        let (withdrawn, host) = try #require(enqueue("w", "h", &limiter))
        enqueue("b", "h", &limiter)
        limiter.withdraw(withdrawn, from: host)
        limiter.withdraw(withdrawn, from: host)
        limiter.release(host)
        #expect(drain(&limiter) == ["b"])
    }

    @Test func withdrawingTheLastWaiterLeavesNothingToAdmit() throws {
        var limiter = Limiter(limitPerHost: 1)
        let (withdrawn, host) = try #require(enqueue("w", "h", &limiter))
        limiter.withdraw(withdrawn, from: host)
        #expect(drain(&limiter).isEmpty)
        #expect(limiter.hostCount == 0)
        enqueue("a", "h", &limiter)
        limiter.withdraw(withdrawn, from: host)
        #expect(drain(&limiter) == ["a"])
    }

    @Test func unusedHostsAreRemoved() throws {
        var limiter = Limiter(limitPerHost: 1)
        let (_, first) = try #require(enqueue("a", "h", &limiter))
        #expect(drain(&limiter) == ["a"])
        let (_, second) = try #require(enqueue("b", "h", &limiter))
        limiter.release(first)
        #expect(drain(&limiter) == ["b"])
        #expect(limiter.hostCount == 1)
        limiter.release(second)
        #expect(limiter.hostCount == 0)
    }

    @Test func randomWithdrawalsPreserveTheOrder() {
        var generator = SeededGenerator(seed: 1)
        var limiter = Limiter(limitPerHost: 2)
        var waiting: [(waiter: Waiter, host: Limiter.Host)] = []
        var admitted: [Limiter.Host] = []
        for number in 0..<5_000 {
            let waiter = Waiter("\(number)")
            waiting.append((waiter, limiter.enqueue(waiter, host: "h")))
            if Bool.random(using: &generator), !waiting.isEmpty {
                let removed = waiting.remove(at: Int.random(in: waiting.indices, using: &generator))
                limiter.withdraw(removed.waiter, from: removed.host)
            }
            if Int.random(in: 0..<3, using: &generator) == 0, !admitted.isEmpty {
                limiter.release(admitted.removeLast())
            }
            while let next = limiter.admit() {
                #expect(next === waiting.first?.waiter)
                admitted.append(waiting.removeFirst().host)
            }
            #expect(admitted.count <= 2)
        }
        for (waiter, host) in waiting { limiter.withdraw(waiter, from: host) }
        for host in admitted { limiter.release(host) }
        #expect(limiter.hostCount == 0)
    }

    @Test func aLongQueueIsOrdered() throws {
        var limiter = Limiter(limitPerHost: 1)
        var names: [String] = []
        for number in 0..<500 { _ = limiter.enqueue(Waiter("\(number)"), host: "h") }
        let (_, host) = try #require(enqueue("z", "h", &limiter))
        while let admitted = limiter.admit() {
            names.append(admitted.description)
            limiter.release(host)
        }
        #expect(names == (0..<500).map(String.init) + ["z"])
    }

    @Test func admittedWaitersAreReleased() {
        var limiter = Limiter(limitPerHost: 9)
        weak var admitted: Waiter?
        do {
            let waiter = Waiter("a")
            admitted = waiter
            _ = limiter.enqueue(waiter, host: "h")
            _ = limiter.enqueue(Waiter("b"), host: "h")
            #expect(limiter.admit() === waiter)
        }
        #expect(admitted == nil)
        #expect(drain(&limiter) == ["b"])
    }
}
