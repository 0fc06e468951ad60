package import Dispatch

/// Runs tasks on a queue.
package final class QueueExecutor: TaskExecutor {
    /// Runs them on Dispatch's own threads, of which there are more than processors when some are blocked.
    package static let global = QueueExecutor(.global())

    private let queue: DispatchQueue

    package init(_ queue: DispatchQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
