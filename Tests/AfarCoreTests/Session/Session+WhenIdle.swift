@testable import AfarCore

extension Session {
    /// Returns when no request is running.
    func whenIdle() async {
        let isIdle = Deferred<Void>()
        state.whenFinished(state.running) { isIdle.fulfill(()) }
        await isIdle.value
    }
}
