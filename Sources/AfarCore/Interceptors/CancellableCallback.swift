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

/// A callback of which only the first call counts.
func once<Answer>(_ callback: @escaping @Sendable (Answer) -> Void) -> @Sendable (Answer) -> Void {
    let wasCalled = Locked(false)
    return { answer in
        let isFirst = wasCalled.withLock { !Swift.exchange(&$0, with: true) }
        if isFirst { callback(answer) }
    }
}
