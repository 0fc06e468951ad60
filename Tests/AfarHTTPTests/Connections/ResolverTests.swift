import AfarTransport
import Foundation
import Testing

@testable import AfarHTTP

@Suite struct ResolverTests {
    private final class Waiter {}

    @Test(arguments: ["127.0.0.1", "::1", "localhost", "a.localhost"]) func someNamesNeedNoLookup(_ name: String) throws
    {
        let resolver = Resolver<Waiter>(limit: 1) { _ in Issue.record("looked up") }
        let addresses = try #require(resolver.addresses(of: name, for: Waiter(), at: 0))
        let numbers = addresses.compactMap { $0.with(port: 81).numbers?.address }
        #expect(numbers.allSatisfy { $0 == "127.0.0.1" || $0 == "::1" })
        #expect(!numbers.isEmpty)
        #expect(addresses.allSatisfy { $0.with(port: 81).numbers?.port == 81 })
    }

    /// Waits for a lookup's result.
    private struct Answers {
        let stream: AsyncStream<Resolver<Waiter>.Answer>
        let resolver: Resolver<Waiter>

        init(limit: Int) {
            let (stream, continuation) = AsyncStream<Resolver<Waiter>.Answer>.makeStream()
            self.stream = stream
            resolver = Resolver(limit: limit) { continuation.yield($0) }
        }
    }

    @Test func waitersForANameShareALookup() async throws {
        let answers = Answers(limit: 1)
        let resolver = answers.resolver
        let (first, second, third) = (Waiter(), Waiter(), Waiter())
        #expect(resolver.addresses(of: "a.invalid", for: first, at: 0) == nil)
        #expect(resolver.addresses(of: "b.invalid", for: third, at: 0) == nil)
        #expect(resolver.addresses(of: "a.invalid", for: second, at: 0) == nil)
        #expect(resolver.isLookingUp("a.invalid"))
        #expect(!resolver.isLookingUp("b.invalid"))
        var received: [[ObjectIdentifier]] = []
        for await answer in answers.stream {
            guard let (waiters, addresses) = resolver.receive(answer, at: 0) else { continue }
            received.append(waiters.map { ObjectIdentifier($0) })
            #expect(throws: Fault.self) { try addresses.get() }
            if received.count == 2 { break }
        }
        #expect(received == [[ObjectIdentifier(first), ObjectIdentifier(second)], [ObjectIdentifier(third)]])
    }

    @Test func aLookupStartedBeforeANetworkChangeIsNotShared() async {
        let answers = Answers(limit: 2)
        let resolver = answers.resolver
        let (early, late) = (Waiter(), Waiter())
        #expect(resolver.addresses(of: "a.invalid", for: early, at: 0) == nil)
        resolver.clear()
        #expect(resolver.addresses(of: "a.invalid", for: late, at: 0) == nil)
        var received: [[ObjectIdentifier]] = []
        for await answer in answers.stream {
            guard let (waiters, _) = resolver.receive(answer, at: 0) else { continue }
            received.append(waiters.map { ObjectIdentifier($0) })
            if received.count == 2 { break }
        }
        #expect(Set(received) == [[ObjectIdentifier(early)], [ObjectIdentifier(late)]])
    }

    @Test func anAbandonedLookupFreesASlotUpToALimit() {
        let resolver = Resolver<Waiter>(limit: 1) { _ in }
        let names = (0..<6).map { "\($0).invalid" }
        let waiters = names.map { _ in Waiter() }
        for (name, waiter) in zip(names, waiters) { _ = resolver.addresses(of: name, for: waiter, at: 0) }
        for index in 0..<4 {
            #expect(resolver.isLookingUp(names[index]))
            #expect(!resolver.isLookingUp(names[index + 1]))
            resolver.abandon(names[index], waiters[index])
        }
        // Four lookups without a waiter are running, so the next one waits.
        #expect(!resolver.isLookingUp(names[4]))
    }
}
