import AfarTesting
import AfarTransport
import Foundation
import TestSupport
import Testing

@testable import AfarResilience

@Suite struct DelayedCallsTests {
    private let clock = ManualClock()
    private let calls = DelayedCalls()

    /// Schedules a call that adds its name to a stream.
    private func schedule(
        _ name: String, after seconds: Double, _ names: AsyncStream<String>.Continuation
    ) -> DelayedCalls.ID {
        calls.schedule(after: .seconds(seconds), by: clock.timeSource) { names.yield(name) }
    }

    @Test func callsArePerformedInTheOrderOfTheirTimes() async {
        let (stream, names) = AsyncStream.makeStream(of: String.self)
        for (name, delay) in [("c", 3.0), ("a", 1), ("d", 3), ("b", 2)] { _ = schedule(name, after: delay, names) }
        var performed: [String] = []
        var iterator = stream.makeAsyncIterator()
        for count in [1, 1, 2] {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            for _ in 0..<count { performed.append(await iterator.next() ?? "") }
        }
        #expect(performed == ["a", "b", "c", "d"])
    }

    @Test func oneTaskWaitsForAllCalls() async {
        let (stream, names) = AsyncStream.makeStream(of: String.self)
        for _ in 0..<100 { _ = schedule("x", after: 5, names) }
        await clock.waitForSleepers()
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(5))
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<100 { #expect(await iterator.next() == "x") }
    }

    @Test func nothingWaitsAfterAllCallsHaveBeenCanceled() async {
        let (_, names) = AsyncStream.makeStream(of: String.self)
        for _ in 0..<2 {
            let ids = ["a", "b"].map { schedule($0, after: 1, names) }
            await clock.waitForSleepers()
            for id in ids { calls.cancel(id) }
            try? await waitWhile { clock.sleeperCount > 0 }
        }
    }

    @Test func canceledCallsArentPerformed() async {
        let (stream, names) = AsyncStream.makeStream(of: String.self)
        let ids = ["a", "b", "c"].map { schedule($0, after: 1, names) }
        calls.cancel(ids[0])
        calls.cancel(ids[1])
        calls.cancel(ids[1])
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == "c")
    }

    @Test func extremeDelaysAreAccepted() async {
        let (stream, names) = AsyncStream.makeStream(of: String.self)
        _ = schedule("never", after: 1e15, names)
        _ = schedule("now", after: -5, names)
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == "now")
    }
}
