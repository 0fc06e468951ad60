package import Dispatch

/// Runs tasks on a Dispatch queue.
package final class QueueExecutor: TaskExecutor {
    /// Runs tasks on Dispatch's own threads. If some of them are blocked, Dispatch starts more threads than there are processors.
    package static let global = QueueExecutor(.global())

    private let queue: DispatchQueue

    package init(_ queue: DispatchQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
