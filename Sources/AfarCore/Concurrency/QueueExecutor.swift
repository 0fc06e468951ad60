import Foundation

/// Runs tasks on a queue.
final class QueueExecutor: TaskExecutor {
    /// Runs them on Dispatch's own threads, of which there are more than processors when some are blocked.
    static let global = QueueExecutor(.global())

    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
