@testable import AfarCore

extension Session {
    /// Waits until no request is running any more.
    func whenIdle() async {
        let isIdle = Deferred<Void>()
        state.whenFinished(state.running) { isIdle.fulfill(()) }
        await isIdle.value
    }
}
