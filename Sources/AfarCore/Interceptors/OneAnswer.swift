/// Waits for a callback of user code that should come once: a second call does nothing, and when none comes, cancelling
/// the task is the answer.
func oneAnswer<Answer: Sendable>(
    ifCancelled cancelled: @autoclosure @escaping @Sendable () -> Answer,
    _ ask: (@escaping @Sendable (Answer) -> Void) -> Void
) async -> Answer {
    let deferred = Deferred<Answer>()
    return await withTaskCancellationHandler {
        ask { deferred.fulfil($0) }
        return await deferred.value
    } onCancel: {
        deferred.fulfil(cancelled())
    }
}
