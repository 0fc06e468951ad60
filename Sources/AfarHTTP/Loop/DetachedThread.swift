import Foundation

/// A thread that ends when its function returns. Nobody waits for it.
enum DetachedThread {
    private final class Start {
        let body: () -> Void

        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Starts a thread. Returns 0, or the error number if there is no thread.
    static func start(_ body: @escaping () -> Void) -> Int32 {
        let context = Unmanaged.passRetained(Start(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, context.toOpaque())
        if code == 0 { pthread_detach(thread) } else { context.release() }
        return code
    }
}
