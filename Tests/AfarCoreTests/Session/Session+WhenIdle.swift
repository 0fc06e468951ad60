@testable import AfarCore

extension Session {
    /// Waits until no request is running any more.
    func whenIdle() async {
        let isIdle = Deferred<Void>()
        delegate.running.whenOver(delegate.running.requests(of: context)) { isIdle.fulfil(()) }
        await isIdle.value
    }
}
