/// Runs user code in a new task and waits for it until this task is cancelled, which also cancels the new one.
///
/// - Parameters:
///   - executor: Runs the task. The default doesn't depend on free threads of the task pool.
///   - cancelled: The value to return if this task is cancelled.
///   - timeout: The time limit, and the value to return when it passes; nil for no limit.
///   - work: The code to run.
package func withCancellableTask<Answer: Sendable>(
    on executor: QueueExecutor = .global,
    ifCancelled cancelled: @autoclosure @escaping @Sendable () -> Answer,
    timeout: (limit: Duration, answer: @Sendable () -> Answer)? = nil,
    _ work: @escaping @Sendable () async -> Answer
) async -> Answer {
    let outcome = Deferred<Answer>()
    let task = Task(executorPreference: executor) { outcome.fulfill(await work()) }
    let timer = timeout.map { limit, answer in
        DelayedCall(after: limit) {
            outcome.fulfill(answer())
            task.cancel()
        }
    }
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
        await outcome.value
    } onCancel: {
        task.cancel()
        outcome.fulfill(cancelled())
    }
}

/// Runs throwing user code in a new task and waits for it until this task is cancelled.
///
/// - Throws: The error that the code throws, or `CancellationError`.
package func withCancellableTask(
    on executor: QueueExecutor = .global, _ work: @escaping @Sendable () async throws -> Void
) async throws {
    let result = await withCancellableTask(on: executor, ifCancelled: .failure(CancellationError())) {
        await Result(catching: work)
    }
    try result.get()
}

extension Result where Failure == any Error {
    fileprivate init(catching work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
