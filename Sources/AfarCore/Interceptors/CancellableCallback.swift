/// Waits for user code to call a callback, and returns the first call's value. If the task is cancelled before, returns the given
/// value instead.
func withCancellableCallback<Answer: Sendable>(
    ifCancelled cancelled: @autoclosure @escaping @Sendable () -> Answer,
    _ ask: @Sendable (@escaping @Sendable (Answer) -> Void) async -> Void
) async -> Answer {
    let deferred = Deferred<Answer>()
    return await withTaskCancellationHandler {
        await ask { deferred.fulfill($0) }
        return await deferred.value
    } onCancel: {
        deferred.fulfill(cancelled())
    }
}

/// Returns a callback that ignores all calls after the first.
func once<Answer>(_ callback: @escaping @Sendable (Answer) -> Void) -> @Sendable (Answer) -> Void {
    let wasCalled = Locked(false)
    return { answer in
        let isFirst = wasCalled.withLock { !Swift.exchange(&$0, with: true) }
        if isFirst { callback(answer) }
    }
}
