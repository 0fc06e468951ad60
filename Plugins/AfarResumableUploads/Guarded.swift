import Dispatch
import Foundation

/// State that is protected by a lock.
final class Guarded<State>: @unchecked Sendable {
    // Sendable because the state is only accessed while the lock is held.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        try lock.withLock { try body(&state) }
    }
}

/// Runs tasks on Dispatch's threads, because a program can block all threads of Swift's task pool.
final class DispatchExecutor: TaskExecutor {
    static let shared = DispatchExecutor()
    private let queue = DispatchQueue(label: "afar.resumable-uploads", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
