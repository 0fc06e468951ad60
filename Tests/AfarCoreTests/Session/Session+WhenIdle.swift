@testable import AfarCore

extension Session {
    /// Waits until no request is running any more.
    func whenIdle() async {
        let isIdle = Deferred<Void>()
        state.whenOver(state.running) { isIdle.fulfil(()) }
        await isIdle.value
    }
}
