package import Dispatch

/// Calls a closure once, after a delay, on a Dispatch queue.
///
/// Unlike `Task.sleep`, it fires even while every thread of the task pool is blocked. Releasing it cancels it.
package final class DelayedCall: @unchecked Sendable {
    // Sendable because a Dispatch source can be used from any thread.
    private let source: any DispatchSourceTimer

    /// A serial queue, because Dispatch gives serial queues a thread even when its other threads are blocked.
    package static let queue = DispatchQueue(label: "afar.timers")

    /// Schedules the call.
    ///
    /// - Parameters:
    ///   - delay: The delay; at most 1e9 seconds.
    ///   - queue: The queue that calls the closure. The default is for closures that return immediately and run no user code.
    ///   - call: The closure.
    package init(
        after delay: Duration, on queue: DispatchQueue = DelayedCall.queue, _ call: @escaping @Sendable () -> Void
    ) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: DispatchWorkItem(block: call))
        source.schedule(deadline: .now() + max(0, min(delay / .seconds(1), 1e9)))
        source.resume()
    }

    package func cancel() { source.cancel() }

    deinit { source.cancel() }
}

/// Suspends the current task for a duration, or until it is cancelled, without using the task pool's threads.
package func pause(for duration: Duration) async {
    let isOver = Deferred<Void>()
    let timer = isOver.fulfill((), after: duration)
    await withTaskCancellationHandler {
        await isOver.value
    } onCancel: {
        isOver.fulfill(())
    }
    timer.cancel()
}
