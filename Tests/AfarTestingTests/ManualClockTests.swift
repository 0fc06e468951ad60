import AfarCore
import AfarTesting
import Foundation
import Testing

@Suite struct ManualClockTests {
    @Test func sleepersWakeWhenTheirDeadlinesPass() async throws {
        let clock = ManualClock()
        async let first: Void = clock.sleep(for: .seconds(1))
        async let second: Void = clock.sleep(for: .seconds(2))
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(999))
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .milliseconds(1))
        try await first
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(-1))
        clock.advance(by: .seconds(1))
        try await second
        #expect(clock.now.duration(to: clock.now) == .zero)
    }

    @Test func sleepersCanBeAwaitedByTheirTime() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(100))
        async let deadline: Void = clock.sleep(for: .seconds(60))
        await clock.waitForSleepers()
        let waiter = Task { await clock.waitForSleepers(within: .seconds(20)) }
        async let delay: Void = clock.sleep(for: .seconds(20))
        await waiter.value
        #expect(clock.sleeperCount == 2)
        await clock.waitForSleepers(2, within: .seconds(60))
        clock.advance(by: .seconds(20))
        try await delay
        clock.advance(by: .seconds(40))
        try await deadline
    }

    @Test func aDeadlineThatHasPassedDoesNotSuspend() async throws {
        let clock = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(for: .seconds(-1))
    }

    @Test func aCanceledTaskNoLongerSleeps() async {
        let clock = ManualClock()
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        let late = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers()
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func aCanceledTaskNoLongerWaitsForSleepers() async {
        let clock = ManualClock()
        let waiting = Task { await clock.waitForSleepers() }
        waiting.cancel()
        await waiting.value
    }

    @Test func theDateAdvances() async {
        let clock = ManualClock(date: Date(timeIntervalSince1970: 0))
        let time = clock.timeSource
        let uptime = time.uptime
        clock.advance(by: .milliseconds(1_500))
        #expect(time.now == Date(timeIntervalSince1970: 1.5))
        #expect(time.uptime - uptime == .milliseconds(1_500))
    }

    @Test func manyTasksSleepAndWakeConcurrently() async throws {
        let clock = ManualClock()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...200 {
                group.addTask {
                    for _ in 0..<5 { try await clock.sleep(for: .milliseconds(number)) }
                }
            }
            group.addTask {
                for _ in 0..<5 {
                    await clock.waitForSleepers(200)
                    clock.advance(by: .seconds(1))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func systemTimePasses() async throws {
        let time = TimeSource.system
        let (start, date) = (time.uptime, time.now)
        try await time.sleep(for: .milliseconds(5))
        #expect(time.uptime - start >= .milliseconds(5))
        #expect(time.now > date)
        let task = Task { try await time.sleep(for: .seconds(1e12)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func itCannotBeAdvancedTooFar() async throws {
        let clock = ManualClock()
        for _ in 0..<40 { clock.advance(by: .seconds(Int64.max)) }
        let end = clock.now
        clock.advance(by: .seconds(1))
        #expect(clock.now == end)
        try await clock.timeSource.sleep(for: .seconds(1))
    }
}
