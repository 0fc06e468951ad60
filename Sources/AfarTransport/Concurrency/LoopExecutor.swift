/// Runs tasks on the thread of a transport's loop.
package final class LoopExecutor: TaskExecutor {
    private let post: @Sendable (InlineJob) -> Void
    /// The loop runs as long as its transport exists.
    private let transport: any Transport

    /// - Parameters:
    ///   - transport: The transport that owns the loop. The executor retains it.
    ///   - post: Passes a job to the loop.
    package init(of transport: any Transport, post: @escaping @Sendable (InlineJob) -> Void) {
        (self.transport, self.post) = (transport, post)
    }

    package func enqueue(_ job: consuming ExecutorJob) { post(InlineJob(UnownedJob(job), of: self)) }
}
