/// Waits for a callback of user code that should come once: further calls are ignored, and when the task is cancelled
/// before, the value given for that is returned.
func withCancellableCallback<Answer: Sendable>(
    ifCancelled cancelled: @autoclosure @escaping @Sendable () -> Answer,
    _ ask: @Sendable (@escaping @Sendable (Answer) -> Void) async -> Void
) async -> Answer {
    let deferred = Deferred<Answer>()
    return await withTaskCancellationHandler {
        await ask { deferred.fulfil($0) }
        return await deferred.value
    } onCancel: {
        deferred.fulfil(cancelled())
    }
}

/// Runs user code in a task of its own, which is cancelled with this one, and waits for it no longer than that.
///
/// - Parameter timeout: How long it may take, and what is returned when it takes longer; nil for any time.
func withCancellableTask<Answer: Sendable>(
    ifCancelled cancelled: @autoclosure @escaping @Sendable () -> Answer,
    timeout: (limit: Duration, answer: @Sendable () -> Answer)? = nil,
    _ work: @escaping @Sendable () async -> Answer
) async -> Answer {
    let outcome = Deferred<Answer>()
    let task = Task { outcome.fulfil(await work()) }
    let timer = timeout.map { limit, answer in
        Task {
            try await Task.sleep(for: limit)
            outcome.fulfil(answer())
            task.cancel()
        }
    }
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
        await outcome.value
    } onCancel: {
        task.cancel()
        outcome.fulfil(cancelled())
    }
}

/// The same for code that may fail.
///
/// - Throws: What the code throws, or `CancellationError`.
func withCancellableTask(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let result = await withCancellableTask(ifCancelled: .failure(CancellationError())) { await Result(catching: work) }
    try result.get()
}

extension Result where Failure == any Error {
    fileprivate init(catching work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

/// A callback of which only the first call counts.
func once<Answer>(_ callback: @escaping @Sendable (Answer) -> Void) -> @Sendable (Answer) -> Void {
    let wasCalled = Locked(false)
    return { answer in
        let isFirst = wasCalled.withLock { !Swift.exchange(&$0, with: true) }
        if isFirst { callback(answer) }
    }
}
