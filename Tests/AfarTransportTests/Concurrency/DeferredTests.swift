import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1))) struct DeferredTests {

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
}

/// Runs its tasks' jobs inline on the thread that waits for the value, if there is one.
private final class InlineExecutor: TaskExecutor {
    private let inlineRunner: any InlineJobRunner

    init(to inlineRunner: any InlineJobRunner) { self.inlineRunner = inlineRunner }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !inlineRunner.runInline(InlineJob(job, of: self)) { globalConcurrentExecutor.enqueue(job) }
    }
}
