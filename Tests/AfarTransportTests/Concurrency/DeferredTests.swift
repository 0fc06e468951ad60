import Foundation
import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1))) struct DeferredTests {
    /// A clock that can't be used for waiting.
    private struct BrokenClock: Clock {
        struct Failure: Error {}

        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { throw Failure() }
    }

    @Test func aPauseEndsIfTheClockFails() async {
        await TimeSource(clock: BrokenClock(), now: { Date() }).pause(for: .seconds(1_000))
    }

    @Test func inlineExecutionLosesNoJobs() async {
        // A job and the value arrive at the same time.
        for _ in 0..<2_000 {
            let deferred = Deferred<Int>()
            let waiter = Task { await deferred.value }
            let executor = InlineExecutor(to: deferred)
            let a = Task.detached(executorPreference: executor) {
                for _ in 0..<50 { await Task.yield() }
            }
            let b = Task.detached {
                for _ in 0..<Int.random(in: 0..<30) { await Task.yield() }
                deferred.fulfill(1)
            }
            // If a job is lost, its task never ends.
            await a.value
            await b.value
            _ = await waiter.value
        }
    }

    @Test func aTaskWaitsForAWaiterAndThenRunsInline() async {
        for round in 0..<500 {
            let deferred = Deferred<Int>()
            let attendant = Task.detached(executorPreference: InlineExecutor(to: deferred)) {
                await deferred.waitForWaiter()
                deferred.fulfill(round)
            }
            if round.isMultiple(of: 3) { await Task.yield() }
            #expect(await deferred.value == round)
            await attendant.value
        }
    }

    @Test func waitingForAWaiterEndsWithoutOne() async {
        for _ in 0..<20 { await Deferred<Int>().waitForWaiter() }
        let deferred = Deferred<Int>()
        let waiters = (0..<2).map { _ in Task { await deferred.value } }
        for _ in 0..<20 { await deferred.waitForWaiter() }
        deferred.fulfill(1)
        for waiter in waiters { #expect(await waiter.value == 1) }
    }

    /// The value can contain user objects. The queue of the timers must not release them.
    @Test func waitingForAWaiterDoesNotRetainTheValue() async {
        final class Object: Sendable {}
        for _ in 0..<100 {
            weak var object: Object?
            do {
                let deferred = Deferred<Object>()
                let attendant = Task {
                    await deferred.waitForWaiter()
                    deferred.fulfill(Object())
                }
                object = await deferred.value
                await attendant.value
            }
            #expect(object == nil)
        }
    }

    @Test func manyTasksWaitForWaitersAtOnce() async {
        await withDiscardingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    let deferred = Deferred<Int>()
                    async let attendant: Void = {
                        await deferred.waitForWaiter()
                        deferred.fulfill(number)
                    }()
                    if number.isMultiple(of: 2) { try? await Task.sleep(for: .milliseconds(number % 7)) }
                    #expect(await deferred.value == number)
                    await attendant
                }
            }
        }
    }
}

/// Runs its tasks' jobs inline on the thread that waits for the value, if there is one.
private final class InlineExecutor: TaskExecutor {
    private let inlineRunner: AnyDeferred

    init(to inlineRunner: AnyDeferred) { self.inlineRunner = inlineRunner }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !inlineRunner.runInline(InlineJob(job, of: self)) { globalConcurrentExecutor.enqueue(job) }
    }
}
